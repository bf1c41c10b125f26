/** Parses stored values; a value of the wrong form is damage. */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { Row } from "../records.ts";
import { rowDamaged } from "./damage-errors.ts";

/** JSON is stored as bytes, so that any string round-trips. */
export function textOrNull(value: Row[string] | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8");
}

/** Parses JSON that the store wrote. `damaged` makes the error, which names the row. */
export function parseStored(text: string, damaged: (cause: unknown) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged(cause);
  }
}

/** A column that holds a JSON object; `{}` if it is null, or JSON's null. */
export function storedObject(
  value: Row[string] | undefined,
  damaged: (cause: unknown) => Error,
): JsonObject {
  const parsed = parseStored(textOrNull(value) ?? "{}", damaged) ?? {};
  if (!isPlainObject(parsed)) throw damaged(undefined);
  return parsed as JsonObject;
}

/** A column that holds bytes, such as a hash. */
export function storedBytes(value: Row[string] | undefined, row: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw rowDamaged(row, "a column of bytes holds another type");
}

export function storedBytesOrNull(value: Row[string] | undefined, row: string): Uint8Array | null {
  return value === null || value === undefined ? null : storedBytes(value, row);
}

/** A place in the feed: a positive whole number. */
export function storedPosition(value: Row[string] | undefined): number {
  const position = Number(value);
  if (Number.isSafeInteger(position) && position > 0) return position;
  throw rowDamaged("a change of the feed", `its position is ${String(value)}`);
}

/** The store's epoch: a UUID, which cursors and the index file carry. Empty if missing. */
export function storedEpoch(value: Row[string] | undefined): string {
  const epoch = textOrNull(value) ?? "";
  if (/^[0-9a-f-]{0,64}$/.test(epoch)) return epoch;
  throw rowDamaged("the epoch of the store", "it is not a UUID");
}
