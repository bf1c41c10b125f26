/** From rows of `ingested_files` to what the port gives out. */

import type { IngestedFile } from "../ingested-file.ts";
import { packText, unpackText } from "../payload-codec.ts";
import type { Row } from "../records.ts";

const FACTS = "path, source, size, mtime, read_offset, read_lines, tail_hash, seen_at";

/** Most files are unchanged, and nobody needs the state of those: it is kilobytes. */
export const INGESTED_FILE_FACTS: string = `${FACTS}, NULL AS state`;
export const INGESTED_FILE_COLUMNS: string = `${FACTS}, state`;

export function toIngestedFile(row: Row): IngestedFile {
  return {
    path: String(row["path"]),
    source: String(row["source"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    offset: Number(row["read_offset"]),
    lines: Number(row["read_lines"]),
    tailHash: row["tail_hash"] as Uint8Array | null,
    state: row["state"] === null ? null : unpackText(row["state"] as Uint8Array),
    seenAt: Number(row["seen_at"]),
  };
}

/** The state as it is stored. */
export function stateBytes({ state }: IngestedFile): Uint8Array | null {
  return state === null ? null : packText(state);
}
