/** The columns of an entry, as PostgreSQL gives them. */

import { entryColumns } from "../../rows/entry-row.ts";

export const ENTRY_COLUMNS: string = entryColumns(
  (column) => column,
  (column) => `encode(${column}, 'hex')`,
);
