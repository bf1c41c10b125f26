/** Background writes: short, and only while no other connection writes. */

import { pause } from "../../../async/pause.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy } from "../sqlite-errors.ts";

/** Runs `action` as one write transaction once the lock is free. */
export async function whenFree<Result>(
  db: SqliteConnection,
  timeoutMs: number,
  action: () => Result,
): Promise<Result> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return runWrite(db, action);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await pause(1 + Math.random());
    }
  }
}

export function runWrite<Result>(db: SqliteConnection, action: () => Result): Result {
  db.begin();
  try {
    const value = action();
    db.commit();
    return value;
  } catch (error) {
    db.rollback();
    throw error;
  }
}
