/**
 * Entries and the feed: most changes are an appended message, and say nothing that its own row does
 * not say. Such a message is its own row of the feed. Its row number tells its position, so that a
 * stretch of the feed is a stretch of the entries, in the order in which they lie in the file.
 */

import type { EntryRow, NewChange } from "../../plan-append.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

/** How many row numbers a tenant has: the migration and its view have the same number. */
const ROWS_PER_TENANT = 2 ** 40;

const SQL = statements("feed_rows", {
  keep: `INSERT INTO changes (tenant, position, at, kind, session_id, entry_id, entry_hash, details,
      hash)
    SELECT e.tenant, e.entry - ?, coalesce(e.fed_at, e.created_at), 'entry_appended', ?, e.id,
      e.hash, NULL, e.fed_hash
    FROM entries e WHERE e.tenant = ? AND e.session = ? AND e.fed_hash IS NOT NULL
    ORDER BY e.sequence`,
});

/** A change with its place in the feed. */
export interface PlacedChange {
  readonly change: NewChange;
  readonly position: number;
  readonly hash: Uint8Array;
}

/** What the row of an entry says of its change. */
export interface FeedRow {
  /** The entry's row number. */
  readonly number: number;
  /** Null if the change has a row of its own, or happened when the entry was created. */
  readonly at: number | null;
  /** Null if the change has a row of its own. */
  readonly hash: Uint8Array | null;
}

/** The row number that position 0 of a tenant's feed would have. */
export function rowBeforeFeed(tenant: number, firstEntry: number): number {
  return (tenant - 1) * ROWS_PER_TENANT + firstEntry;
}

/** Whether the row of the entry tells the change. */
export function isToldByEntry({ kind, details }: NewChange): boolean {
  return kind === "entry_appended" && details === null;
}

/** The feed rows of entries, whose changes are among `changes` in the same order. */
export function feedRows(
  rows: readonly EntryRow[],
  changes: readonly PlacedChange[],
  before: number,
): FeedRow[] {
  let next = 0;
  return rows.map(({ entry, hash }) => {
    while (next < changes.length && changes[next]?.change.entryHash !== hash) next++;
    const { change, position, hash: fedHash } = changes[next++] as PlacedChange;
    const number = before + position;
    if (!isToldByEntry(change)) return { number, at: null, hash: null };
    return { number, at: change.at === entry.createdAt ? null : change.at, hash: fedHash };
  });
}

/** Gives the changes of a session's entries rows of their own, so that the entries can go. */
export function keepFeedRows(
  db: SqliteConnection,
  tenant: number,
  session: { readonly number: number; readonly id: string },
  before: number,
): void {
  db.run(SQL.keep, before, session.id, tenant, session.number);
}
