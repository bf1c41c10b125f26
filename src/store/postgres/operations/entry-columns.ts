/** The columns of an entry in PostgreSQL. */

import { entryColumns } from "../../rows/entry-row.ts";

/** The parent's hash in hex, to check the entry's own, in the same round trip. */
export const PARENT_HASH = `(SELECT encode(p.hash, 'hex') FROM entries p
  WHERE p.tenant = e.tenant AND p.id = e.parent_id) AS parent_hash`;

export const ENTRY_COLUMNS: string = entryColumns(
  (column) => column,
  (column) => `encode(${column}, 'hex')`,
);
