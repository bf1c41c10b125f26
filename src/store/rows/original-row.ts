/** Maps rows of `originals` to the port's records. */

import type { Original, OriginalRange } from "../ingested-file.ts";
import type { Row } from "../records.ts";

export const ORIGINAL_COLUMNS = "o.workstation, o.path, o.source, o.reader, o.size, o.mtime";

export function toOriginal(row: Row, parts: readonly Row[], sessions: readonly Row[]): Original {
  return {
    workstation: String(row["workstation"]),
    path: String(row["path"]),
    source: String(row["source"]),
    reader: Number(row["reader"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    parts: parts.map(toRange),
    sessionIds: sessions.map(({ id }) => String(id)),
  };
}

function toRange(row: Row): OriginalRange {
  return { start: Number(row["start"]), size: Number(row["size"]) };
}
