import type { Row } from "../records.ts";

/** JSON is stored as bytes, so that any string round-trips. */
export function textOrNull(value: Row[string] | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8");
}
