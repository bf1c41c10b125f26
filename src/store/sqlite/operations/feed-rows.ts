/**
 * Feed rows inside entries: the row of an appended message has all fields of its change, so it
 * doubles as its feed row. Its rowid gives its position: a range of the feed is a range scan of
 * entries in file order. The following `context_usage` change is in the same row.
 */

import { BackscrollError } from "../../../model/errors.ts";
import type { NewChange } from "../../plan/plan-append.ts";
import type { EntryRow } from "../../rows/entry-row.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("feed_rows", {
  keep: `INSERT INTO changes (tenant, position, at, kind, session_id, entry_id, entry_hash, details,
      hash)
    SELECT e.tenant, e.entry - ?, coalesce(e.fed_at, e.created_at), 'entry_appended', ?, e.id,
      e.hash, NULL, e.fed_hash
    FROM entries e WHERE e.tenant = ? AND e.session = ? AND e.sequence <= ?
      AND e.fed_hash IS NOT NULL
    ORDER BY e.sequence`,
  keepUsage: `INSERT INTO changes (tenant, position, at, kind, session_id, entry_id, entry_hash,
      details, hash)
    SELECT e.tenant, e.entry - ? + 1, coalesce(e.fed_at, e.created_at), 'context_usage', ?, e.id,
      NULL, e.fed_usage, e.fed_usage_hash
    FROM entries e WHERE e.tenant = ? AND e.session = ? AND e.sequence <= ?
      AND e.fed_usage_hash IS NOT NULL
    ORDER BY e.sequence`,
});

/** A change with its place in the feed. */
export interface PlacedChange {
  readonly change: NewChange;
  readonly position: number;
  readonly hash: Uint8Array;
  /** True if the entry's row stores this change; otherwise it has a row in `changes`. */
  readonly isInEntry: boolean;
}

/** The change that an entry's row stores. */
export interface FeedRow {
  /** The entry's row number. */
  readonly number: number;
  /** Null if the change has its own row, or the time of the entry's creation. */
  readonly at: number | null;
  /** Null if the change has its own row. */
  readonly hash: Uint8Array | null;
  /** The `context_usage` change, if it is the next change and stored in the same row. */
  readonly usage: PlacedChange | undefined;
}

/** Row numbers must be exact JavaScript numbers: there is room for two million tenants. */
export function tooManyTenants(): BackscrollError {
  return new BackscrollError(
    "quota_exceeded",
    "the store has the maximum number of tenants; open another file for new ones",
  );
}

/** Whether an entry's row stores `change`, which follows `previous`. */
export function isInEntryRow(change: NewChange, previous: PlacedChange | undefined): boolean {
  if (change.kind === "entry_appended") return change.details === null;
  return (
    change.kind === "context_usage" &&
    previous?.isInEntry === true &&
    previous.change.kind === "entry_appended" &&
    previous.change.entryId === change.entryId &&
    previous.change.at === change.at
  );
}

/** The feed rows of entries, whose changes are in `changes` in the same order. */
export function feedRows(
  rows: readonly EntryRow[],
  changes: readonly PlacedChange[],
  before: number,
): FeedRow[] {
  let next = 0;
  return rows.map(({ entry, hash }) => {
    while (next < changes.length && changes[next]?.change.entryHash !== hash) next++;
    const { change, position, hash: fedHash, isInEntry } = changes[next++] as PlacedChange;
    const number = before + position;
    if (!isInEntry) return { number, at: null, hash: null, usage: undefined };
    const at = change.at === entry.createdAt ? null : change.at;
    const following = changes[next];
    const usage =
      following?.isInEntry && following.change.entryHash === null ? following : undefined;
    return { number, at, hash: fedHash, usage };
  });
}

/**
 * Moves the changes of a session's entries, up to a sequence, to rows of their own, so that the
 * entries can be deleted.
 */
export function keepFeedRows(
  db: SqliteConnection,
  tenant: number,
  session: { readonly number: number; readonly id: string },
  before: number,
  through: number = Number.MAX_SAFE_INTEGER,
): void {
  db.run(SQL.keep, before, session.id, tenant, session.number, through);
  db.run(SQL.keepUsage, before, session.id, tenant, session.number, through);
}
