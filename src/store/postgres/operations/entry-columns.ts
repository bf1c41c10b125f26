/** The columns of an entry in PostgreSQL. */

import { entryColumns } from "../../rows/entry-row.ts";

/** The parent's hash in hex, to check the entry's own, in the same round trip. */
export const PARENT_HASH = `(SELECT encode(p.hash, 'hex') FROM entries p
  WHERE p.tenant = e.tenant AND p.id = e.parent_id) AS parent_hash`;

/**
 * Columns of entry `e` in conditions that no index shall serve. A plan for any session takes it for a few
 * rows, and would rather read a long one as a whole than look for its entries by their ids, or, since
 * PostgreSQL 18 (skip scan), by a range of ordinals with a greatest depth.
 */
export const UNINDEXED_SESSION = "e.session + 0";
export const UNINDEXED_DEPTH = "e.depth + 0";

export const ENTRY_COLUMNS: string = entryColumns(
  (column) => column,
  (column) => `encode(${column}, 'hex')`,
);
