/** Conditions of an append, compared with what is stored in the append's own transaction: a compare-and-swap. */

import { BackscrollError } from "../../model/errors.ts";

export interface AppendGuard {
  /** Ids that no entry may have yet. */
  readonly absent?: readonly string[];
  /** Entries that nothing may have superseded yet. */
  readonly current?: readonly string[];
}

/** What is stored of an entry that a guard names. */
export interface GuardedEntry {
  readonly id: string;
  readonly supersededBy: string | null;
}

/** The entries that a backend looks up before it checks. */
export function guardedIds({ absent = [], current = [] }: AppendGuard): string[] {
  return [...absent, ...current];
}

/** Throws `stale_leaf` with the entry that is not as the guard says. `found` are those that are there. */
export function checkGuard(
  sessionId: string,
  { absent = [] }: AppendGuard,
  found: readonly GuardedEntry[],
): void {
  for (const { id, supersededBy } of found) {
    if (absent.includes(id)) throw entryChanged(sessionId, id, "is there already");
    if (supersededBy !== null) throw entryChanged(sessionId, id, `was replaced by ${supersededBy}`);
  }
}

function entryChanged(sessionId: string, entryId: string, what: string): BackscrollError {
  return new BackscrollError(
    "stale_leaf",
    `session ${sessionId} has moved on: entry ${entryId} ${what}; read it and try again`,
    { details: { sessionId, entryId } },
  );
}

/** Whether an append failed because of its guard, and not of the leaf that it expected. */
export function isGuardFailure(error: unknown): boolean {
  return BackscrollError.is(error, "stale_leaf") && "entryId" in error.details;
}
