/** The columns of an entry in SQLite, and the place of its packed parts. */

import { ENTRY_NAMES, type EntryRow, entryColumns } from "../../rows/entry-row.ts";
import type { FeedRow } from "./feed-rows.ts";

/**
 * SQL for bytes as text. Content is stored as UTF-8 bytes; SQLite returns a text in a fraction of
 * the time of bytes, which are allocated separately.
 */
export function asText(column: string): string {
  return `CAST(${column} AS TEXT)`;
}

/**
 * Implicit parents: most entries of a history follow the previous row. Their column is empty, and
 * the parent's id is looked up by rowid, which never changes.
 */

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

const COLUMNS = entryColumns(asText, (column) => `lower(hex(${column}))`);

/** Rows with these are completed by `unfold`: `pack` is the place of packed content and metadata. */
export const STORED_ENTRY: string = `e.pack, ${COLUMNS.replace("e.parent_id", `${PARENT_ID} AS parent_id`)}`;

/** Their names, in order. */
export const STORED_NAMES: readonly string[] = ["pack", ...ENTRY_NAMES];
