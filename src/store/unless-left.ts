/** Retries writes whose ids are taken by leftover rows of a deleted session. */

import { BackscrollError } from "../model/errors.ts";

export interface LeftRows {
  /** Whether an entry's id is taken in the tenant. */
  isEntryTaken(error: unknown): boolean;
  /** Deletes leftover rows of the tenant's deleted sessions; false if there were none. */
  deleteLeft(tenant: string): Promise<boolean>;
}

/** Repeats `write` once if its id was taken, after deleting the leftover rows. */
export async function unlessLeft<Result>(
  { isEntryTaken, deleteLeft }: LeftRows,
  tenant: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const isTaken = BackscrollError.is(error, "session_exists") || isEntryTaken(error);
    if (!isTaken || !(await deleteLeft(tenant))) throw error;
    return write();
  }
}
