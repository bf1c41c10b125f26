/** Maps rows of `records` to the port's records. */

import { sha256 } from "../../transcript/hash.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { parseStored, storedBytes, storedBytesOrNull, textOrNull } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";
import type { CurrentRecord } from "./plan-records.ts";
import type { RecordParts, RecordPlace, RecordRange, RecordRecord } from "./record-port.ts";

/** From `records` (r). */
export const RECORD_COLUMNS = `r.namespace, r.key, r.version, r.is_json, r.size, r.hash,
  r.expires_at, r.created_at, r.updated_at, length(r.text) AS text_bytes`;

/** Columns to read for each choice of parts. */
export const PART_COLUMNS: Readonly<Record<RecordParts, string>> = {
  info: RECORD_COLUMNS,
  text: `${RECORD_COLUMNS}, r.text`,
  all: `${RECORD_COLUMNS}, r.text, r.value`,
};

/** Reads rows with `PART_COLUMNS`. */
export function toRecord(row: Row): RecordRecord {
  const { contentBytes: _, ...info } = toCurrent(row);
  const what = nameOf(info);
  const text = textOrNull(row["text"]);
  const bytes = storedBytesOrNull(row["value"], what);
  if (bytes !== null && !sha256(bytes).equals(storedBytes(row["hash"], what))) {
    throw rowDamaged(what, "its value does not match its hash");
  }
  const damaged = (cause: unknown) => rowDamaged(what, "its text is no JSON", cause);
  return { ...info, text: text === null ? null : String(parseStored(text, damaged)), bytes };
}

export function toCurrent(row: Row): CurrentRecord {
  const size = Number(row["size"]);
  const textBytes = row["text_bytes"] ?? null;
  return {
    namespace: String(row["namespace"]),
    key: String(row["key"]),
    version: String(row["version"]),
    type: Number(row["is_json"]) === 1 ? "json" : "bytes",
    size,
    indexed: textBytes !== null,
    expiresAt: row["expires_at"] === null ? null : Number(row["expires_at"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    contentBytes: size + Number(textBytes ?? 0),
  };
}

export function nameOf({ namespace, key }: RecordPlace): string {
  return `the record ${key} of namespace ${namespace}`;
}

/**
 * Rows of a range as a page: `rows` has one more than the limit if there are more. Where values or
 * texts are read, their sizes determine the page's end.
 */
export function cutPage(
  rows: readonly CurrentRecord[],
  { limit, maxBytes }: Pick<RecordRange, "limit" | "maxBytes">,
  parts: RecordParts,
): { readonly page: readonly CurrentRecord[]; readonly more: boolean } {
  let bytes = 0;
  let end = 0;
  for (const { contentBytes } of rows.slice(0, limit)) {
    bytes += parts === "info" ? 0 : contentBytes;
    if (bytes > maxBytes && end > 0) break;
    end++;
  }
  return { page: rows.slice(0, end), more: end < rows.length };
}

/** The exclusive upper bound of the range of texts with `prefix`, by code points; null: unbounded. */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (letter) => letter.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_POINT) continue;
    // Skips the surrogates.
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return String.fromCodePoint(...points);
  }
  return null;
}

const LAST_POINT = 0x10ffff;
