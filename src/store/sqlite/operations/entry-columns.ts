/** The columns of an entry in SQLite, and the place of its packed parts. */

import { ENTRY_NAMES, entryColumns } from "../../rows/entry-row.ts";
import { asText } from "../as-text.ts";
import { PARENT_ID } from "../packs/parent-column.ts";

const COLUMNS = entryColumns(asText, (column) => `lower(hex(${column}))`);

/** Rows with these are completed by `unfold`: `pack` is the place of packed content and metadata. */
export const STORED_ENTRY: string = `e.pack, ${COLUMNS.replace("e.parent_id", `${PARENT_ID} AS parent_id`)}`;

/** Their names, in order. */
export const STORED_NAMES: readonly string[] = ["pack", ...ENTRY_NAMES];
