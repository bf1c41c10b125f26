/** The columns of an entry, as SQLite gives them soonest. */

import { entryColumns } from "../../rows/entry-row.ts";
import { asText } from "../as-text.ts";

export const ENTRY_COLUMNS: string = entryColumns(asText, (column) => `lower(hex(${column}))`);
