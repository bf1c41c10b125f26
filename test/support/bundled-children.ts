/**
 * The processes that tests start by the hundred, each put together in a file, once per run: such a
 * start takes a fifth of the time that the sources take.
 */

import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { rolldown } from "rolldown";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder that the processes are in; undefined where they run from their sources. */
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
  "store-prober",
  "telemetry-user",
  "tenant-deleter",
  "turn-writer",
].map((name) => join(import.meta.dirname, `${name}.ts`));

/** What they load by its name. A thread's code is beside the file that starts it. */
const LOADED: readonly string[] = [
  "sqlite/executor/storage-thread.ts",
  "cases/trivial-index.cases.ts",
].map((name) => join(ROOT, "src/store", name));

/** Vitest calls this once per run and calls what it returns at the end, whatever the tests did. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Within the checkout, whose packages they load.
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "backscroll-children-"));
  // Some run as another user.
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
