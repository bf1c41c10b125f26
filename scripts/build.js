/** Compiles `src/` to `dist/`, one file to one file, with types. */

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
process.exit(run.status ?? 1);
