/**
 * Makes `dist/`: the types file by file, and the code in a few files.
 *
 * Node takes longer to find and link four hundred small modules than to run them, and every thread
 * of a store does it again. What is loaded only when it is needed stays apart.
 */

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

/** What is loaded from outside, under the name that it has in `dist`. */
const ENTRIES = {
  index: "src/index.ts",
  "adapters/ai-sdk/index": "src/adapters/ai-sdk/index.ts",
  "archive/index": "src/archive/index.ts",
  "server/index": "src/server/index.ts",
  "client/index": "src/client/index.ts",
  "gateway/index": "src/gateway/index.ts",
  "cli/main": "src/cli/main.ts",
  // A thread of its own: beside the file that starts it, wherever that ends up.
  "storage-thread": "src/store/sqlite/storage-thread.ts",
};

/** Folders that nearly every entry loads. */
const SHARED = /[\\/]src[\\/](model|transcript|search[\\/](analysis|document))[\\/]/;

rmSync(DIST, { recursive: true, force: true });
writeTypes();
await writeCode();

function writeTypes() {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

async function writeCode() {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: "node",
    // Packages stay packages: only what is ours is put together.
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:\\/.test(id),
  });
  await bundle.write({
    dir: DIST,
    format: "esm",
    // Half of what is read at a start were words for people, who have the sources.
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // What everybody needs, in one file instead of ten: finding one takes half a millisecond.
    codeSplitting: { groups: [{ name: "model", test: SHARED }] },
  });
  await bundle.close();
}
