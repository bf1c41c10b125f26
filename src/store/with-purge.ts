/** Retries writes whose id a soft-deleted session still takes: see `deleted-session.ts`. */

import { BackscrollError } from "../model/errors.ts";

export interface Purging {
  /** Whether an entry's id is taken in the tenant. */
  isEntryTaken(error: unknown): boolean;
  /** Purges the tenant's soft-deleted sessions; false if there were none. */
  purgeDeleted(tenant: string): Promise<boolean>;
}

/** Repeats `write` once after a purge if its id was taken. */
export async function withPurge<Result>(
  { isEntryTaken, purgeDeleted }: Purging,
  tenant: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const isTaken = BackscrollError.is(error, "session_exists") || isEntryTaken(error);
    if (!isTaken || !(await purgeDeleted(tenant))) throw error;
    return write();
  }
}
