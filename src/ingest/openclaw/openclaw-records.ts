/**
 * The records of a session in openclaw's database.
 *
 * Since version 2026.9.6 a large record is compressed in another column, with its size beside it.
 */

import { zstdDecompressSync } from "node:zlib";
import { countField, textField } from "../fields.ts";
import { type Line, MAX_LINE_BYTES } from "../lines.ts";
import { cutRecord } from "../long/cut-values.ts";
import type { ProblemLog } from "../problems.ts";
import { boundedColumn, type ForeignDatabase, type Row } from "../sqlite-file.ts";

const TABLE = "transcript_events";

export function hasRecords(database: ForeignDatabase): boolean {
  return database.has(TABLE, "event_json");
}

/** In order, one in memory at a time. Unreadable ones are counted and skipped. */
export async function* storedLines(
  database: ForeignDatabase,
  id: string,
  problems: ProblemLog,
): AsyncGenerator<Line> {
  if (!hasRecords(database)) return;
  const columns = ["event_json", "event_zstd", "event_utf8_bytes"];
  const known = columns.filter((column) => database.has(TABLE, column));
  const rows = database.rows(
    `SELECT ${known.map(boundedColumn).join(", ")} FROM transcript_events WHERE session_id = ? ORDER BY seq`,
    id,
  );
  let number = 0;
  for (const row of rows) {
    number++;
    const stored = textField(row, "event_json") ?? unpackRecord(row);
    const text = stored === undefined ? "" : cutRecord(stored, `record ${number}`, problems);
    if (stored !== undefined) yield { number, offset: 0, text, ended: true };
    else {
      const message = `a record of the session ${id} is empty, too large, or cannot be unpacked`;
      problems.add("unreadable", message, number);
    }
  }
}

/** At most its declared size, and at most a line's limit. */
function unpackRecord(row: Row): string | undefined {
  const { event_zstd: packed } = row;
  if (!(packed instanceof Uint8Array)) return undefined;
  const told = countField(row, "event_utf8_bytes") ?? MAX_LINE_BYTES;
  try {
    const maxOutputLength = Math.max(1, Math.min(told, MAX_LINE_BYTES));
    return zstdDecompressSync(packed, { maxOutputLength }).toString("utf8");
  } catch {
    // Damaged, or larger than declared: the caller reports it.
    return undefined;
  }
}
