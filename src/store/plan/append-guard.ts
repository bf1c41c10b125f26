/** Compare-and-swap on stored entries: conditions of an append, checked in its transaction. */

import { BackscrollError } from "../../model/errors.ts";

export interface AppendGuard {
  /** Ids that no entry may have yet. */
  readonly absent?: readonly string[];
  /** Entries that must still be the newest version. */
  readonly current?: readonly string[];
}

/** A stored entry named in a guard. */
export interface GuardedEntry {
  readonly id: string;
  readonly supersededBy: string | null;
}

/** The entries that a backend looks up before it checks. */
export function guardedIds({ absent = [], current = [] }: AppendGuard): string[] {
  return [...absent, ...current];
}

/** Throws `stale_leaf` with the entry that violates the guard. `found` are the existing ones. */
export function checkGuard(
  sessionId: string,
  { absent = [] }: AppendGuard,
  found: readonly GuardedEntry[],
): void {
  for (const { id, supersededBy } of found) {
    if (absent.includes(id)) throw entryChanged(sessionId, id, "exists already");
    if (supersededBy !== null) throw entryChanged(sessionId, id, `was replaced by ${supersededBy}`);
  }
}

function entryChanged(sessionId: string, entryId: string, what: string): BackscrollError {
  return new BackscrollError(
    "stale_leaf",
    `session ${sessionId} has changed: entry ${entryId} ${what}; read it and try again`,
    { details: { sessionId, entryId } },
  );
}

/** Whether an append failed by its guard, not by its expected leaf. */
export function isGuardFailure(error: unknown): boolean {
  return BackscrollError.is(error, "stale_leaf") && "entryId" in error.details;
}
