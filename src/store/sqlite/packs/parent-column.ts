/**
 * Implicit parents: most entries of a history follow the previous row. Their column is empty, and
 * the parent's id is looked up by rowid, which never changes.
 */

import type { EntryRow } from "../../rows/entry-row.ts";
import type { FeedRow } from "../operations/feed-rows.ts";

/** The parent's id of an entry (e), in SQL. */
export const PARENT_ID = `CASE e.parent_id WHEN '' THEN (SELECT p.id FROM entries p
  WHERE p.tenant = e.tenant AND p.entry = e.entry - 1) ELSE e.parent_id END`;

export interface WrittenRow {
  readonly row: EntryRow;
  readonly fed: FeedRow;
}

/** The column's value for an entry of a history after another one. */
export function parentAfter(
  row: EntryRow,
  fed: FeedRow,
  before: WrittenRow | undefined,
): string | null {
  const parent = row.place.parent?.id ?? null;
  const isBefore = before?.row.entry.id === parent && before?.fed.number === fed.number - 1;
  return isBefore ? "" : parent;
}
