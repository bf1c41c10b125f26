/** Maps rows of `ingested_files` to the port's records. */

import type { IngestedFile } from "../ingested-file.ts";
import { packText, unpackText } from "../payload-codec.ts";
import type { Row } from "../records.ts";

const FACTS = "path, source, size, mtime, read_offset, read_lines, tail_hash, seen_at";

/** Without the resume state, which has kilobytes: most files are unchanged. */
export const INGESTED_FILE_FACTS: string = `${FACTS}, NULL AS state`;
export const INGESTED_FILE_COLUMNS: string = `${FACTS}, state`;

export function toIngestedFile(row: Row): IngestedFile {
  const file: IngestedFile = {
    path: String(row["path"]),
    source: String(row["source"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    offset: Number(row["read_offset"]),
    lines: Number(row["read_lines"]),
    tailHash: row["tail_hash"] as Uint8Array | null,
    state: null,
    seenAt: Number(row["seen_at"]),
  };
  if (row["state"] === null) return file;
  const state = soundState(row["state"]);
  if (state !== undefined) return { ...file, state };
  // A reader cannot resume without its state. A wrong size makes it read the file from the start.
  return { ...file, size: -1, mtimeUs: -1, offset: 0, lines: 0, tailHash: null };
}

/** Undefined if it is damaged. */
function soundState(state: Row[string] | undefined): string | undefined {
  try {
    const text = unpackText(state as Uint8Array);
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

/** The stored state. */
export function stateBytes({ state }: IngestedFile): Uint8Array | null {
  return state === null ? null : packText(state);
}
