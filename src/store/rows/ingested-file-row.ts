/** From rows of `ingested_files` to what the port gives out. */

import type { IngestedFile } from "../ingested-file.ts";
import type { Row } from "../records.ts";
import { textOrNull } from "./text.ts";

export const INGESTED_FILE_COLUMNS = `path, source, size, mtime, read_offset, read_lines,
  tail_hash, state, seen_at`;

export function toIngestedFile(row: Row): IngestedFile {
  return {
    path: String(row["path"]),
    source: String(row["source"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    offset: Number(row["read_offset"]),
    lines: Number(row["read_lines"]),
    tailHash: row["tail_hash"] as Uint8Array | null,
    state: textOrNull(row["state"]),
    seenAt: Number(row["seen_at"]),
  };
}
