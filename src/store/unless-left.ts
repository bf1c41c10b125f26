/** Writes whose ids may be taken by what is left of a deleted session. */

import { BackscrollError } from "../model/errors.ts";

export interface LeftRows {
  /** Whether an entry has an id that another one of the tenant has. */
  isEntryTaken(error: unknown): boolean;
  /** Deletes what is left of the tenant's deleted sessions; gives whether there was anything. */
  deleteLeft(tenant: string): Promise<boolean>;
}

/** Repeats `write` once if it failed because of such an id, after the rest was deleted. */
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
