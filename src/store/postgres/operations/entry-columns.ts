/** The columns of an entry in PostgreSQL. */

import { entryColumns } from "../../rows/entry-row.ts";

/** The parent's hash in hex, to check the entry's own, in the same round trip. */
export const PARENT_HASH = `(SELECT encode(p.hash, 'hex') FROM entries p
  WHERE p.tenant = e.tenant AND p.id = e.parent_id) AS parent_hash`;

/**
 * Expressions that keep the planner off an index. A generic plan estimates a session at a few rows,
 * and would scan a long one instead of looking up ids, or, since PostgreSQL 18 (skip scan), a range
 * of ordinals up to a depth.
 */
export const UNINDEXED_SESSION = "e.session + 0";
export const UNINDEXED_DEPTH = "e.depth + 0";

export const STORED_ENTRY: string = entryColumns(
  (column) => column,
  (column) => `encode(${column}, 'hex')`,
);
