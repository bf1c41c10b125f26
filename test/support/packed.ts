/** The package as `npm pack` makes it. */

import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT, run } from "./cli.ts";

/** Packs the checkout's build into `folder`, and gives the file. */
export async function packInto(folder: string): Promise<string> {
  // `npm test` has just built it, and other tests are running it.
  const isBuilt = process.env["BACKSCROLL_BUILT"] !== undefined;
  if (!isBuilt && isStale()) await succeed(process.execPath, [join(ROOT, "scripts/build.js")]);
  const packed = await succeed("npm", [
    "pack",
    "--ignore-scripts",
    "--json",
    "--loglevel=error",
    "--pack-destination",
    folder,
  ]);
  return join(folder, (JSON.parse(packed) as { filename: string }[])[0]?.filename ?? "");
}

/** Gives standard output. */
export async function succeed(file: string, args: readonly string[]): Promise<string> {
  const ran = await run(file, args);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  return ran.stdout;
}

/** Whether `dist` is missing, or older than a source. */
function isStale(): boolean {
  const built = join(ROOT, "dist/index.js");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return globSync("src/**/*.ts", { cwd: ROOT }).some(
    (file) => statSync(join(ROOT, file)).mtimeMs > builtAt,
  );
}
