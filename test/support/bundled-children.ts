/**
 * Bundles the child processes that tests start by the hundred, once per run: a bundle starts five times
 * as fast as the sources.
 */

import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { rolldown } from "rolldown";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the bundles; undefined if children run from their sources. */
    children?: string;
  }
}

const ROOT = join(import.meta.dirname, "../..");

const FILES: readonly string[] = [
  "append-worker",
  "crash-writer",
  "flush-runner",
  "full-disk-writer",
  "index-writer",
  "restless-writer",

  "log-writer",
  "lease-holder",
  "open-racer",
  "record-writer",
  "retention-writer",
  "search-writer",
  "small-disk",
  "store-prober",
  "telemetry-user",
  "tenant-deleter",
  "turn-writer",
].map((name) => join(import.meta.dirname, `${name}.ts`));

/** Modules that children load by path; a thread's code lies beside the file that starts it. */
const LOADED: readonly string[] = [
  "sqlite/executor/storage-thread.ts",
  "cases/trivial-index.cases.ts",
].map((name) => join(ROOT, "src/store", name));

/** Vitest's global setup: called once per run; the returned function is the teardown. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Inside the checkout, so that packages resolve.
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "backscroll-children-"));
  // Readable by all: some children run as another user.
  await chmod(folder, 0o755);
  const bundle = await rolldown({
    input: Object.fromEntries([...FILES, ...LOADED].map((file) => [basename(file, ".ts"), file])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].js" });
  await bundle.close();
  provide("children", folder);
  return () => rm(folder, { recursive: true, force: true });
}
