/** A store on a disk of a few megabytes: a tmpfs, in a mount namespace of its own. */

import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import type { SmallDiskReport, SmallDiskTask } from "./support/small-disk.ts";

const MODES = [
  ["in the caller's thread", true],
  ["on threads", false],
] as const;

/** Shell commands that run the rest of their command line with a small disk at `folder`. */
function onSmallDisk(folder: string): string {
  return `exec unshare -rm sh -c 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"' "${folder}" "$0" "$@"`;
}

/** Some containers forbid it; they have the test with a limit of file sizes (`bad-files.test.ts`). */
const canMount =
  spawnSync("sh", ["-c", onSmallDisk(tmpdir()), "true"], { stdio: "ignore" }).status === 0;

describe.skipIf(!canMount).each(MODES)("a full disk, with SQLite %s", (_, inThread) => {
  test("loses nothing, hides no error, and has room again as the documents say", async () => {
    const folder = createFolder();
    const child = new Child("./small-disk.ts", { limits: onSmallDisk(folder) });
    child.tell({ address: join(folder, "full.db"), inThread } satisfies SmallDiskTask);
    await child.succeed();
    const [report] = child.said<SmallDiskReport>() as [SmallDiskReport];
    expect(report.refused).toBe("store_full");
    expect(report.closed).toEqual({
      error: null,
      warnings: [expect.stringMatching(/everything that was acknowledged is stored.*full\.db-wal/)],
    });
    expect(report.thrown).toBe("Error: the caller's own");
    expect(report.hasLog).toBe(true);
    expect(report.stored.toSorted()).toEqual(report.acknowledged.toSorted());
    expect(report).toMatchObject({ deleted: 10, appended: 10, recycled: 60, problems: 0 });
    expect(report.isMerged).toBe(true);
  });
});
