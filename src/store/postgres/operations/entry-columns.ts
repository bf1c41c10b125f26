/** The columns of an entry, as PostgreSQL gives them. */

import { entryColumns } from "../../rows/entry-row.ts";

/** The hash of an entry's parent in hex, to check the entry's own: asked for with it, in one round trip. */
export const PARENT_HASH = `(SELECT encode(p.hash, 'hex') FROM entries p
  WHERE p.tenant = e.tenant AND p.id = e.parent_id) AS parent_hash`;

export const ENTRY_COLUMNS: string = entryColumns(
  (column) => column,
  (column) => `encode(${column}, 'hex')`,
);
