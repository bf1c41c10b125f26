import { expect, onTestFinished, test } from "vitest";
import { SqliteConnection } from "../sqlite-driver.ts";
import { LogGrowth } from "./log-growth.ts";

const MIB = 1024 * 1024;

/** The megabytes after which a checkpoint is due, with this much room on the disk. */
function checkpointsAt(freeMib: readonly number[]): number[] {
  const db = new SqliteConnection(":memory:");
  onTestFinished(() => db.close());
  let written = 0;
  const growth = new LogGrowth(db, () => (freeMib[written - 1] ?? 0) * MIB);
  return freeMib.flatMap((_, i) => {
    written = i + 1;
    db.pagesWritten += MIB / 2_048;
    return growth.takeLarge() ? [written] : [];
  });
}

test("with enough room the log is checkpointed after every 16 MB", () => {
  expect(checkpointsAt(Array.from({ length: 40 }, () => 1_000))).toEqual([16, 32]);
});

test("on a small or nearly full disk it takes a quarter of the room at most", () => {
  expect(checkpointsAt([100, 20, 20, 20, 20, 20, 6, 6, 6])).toEqual([6, 8]);
  expect(checkpointsAt([0, 0, 0])).toEqual([1, 2, 3]);
});
