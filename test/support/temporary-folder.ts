/**
 * The folder of a run's temporary files, removed at its end with what tests left in it.
 *
 * In memory where there is room, so that tests and their child processes do not wait for a disk: what
 * survives a power loss is tested on write-ahead logs that were cut, not on a disk.
 */

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fastFolder } from "./fast-folder.ts";

/** Above that of PostgreSQL's databases. */
const ROOM_BYTES = 6 * 1024 ** 3;

/** Vitest's global setup: called once per run; the returned function is the teardown. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(await fastFolder(ROOM_BYTES), "backscroll-run-"));
  // For all users: some child processes run as another one.
  await chmod(folder, 0o1777);
  const before = process.env["TMPDIR"];
  // Inherited by workers and their child processes.
  process.env["TMPDIR"] = folder;
  return async () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
}
