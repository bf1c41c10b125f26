/**
 * How values are written on the wire: snake_case names, ISO 8601 times.
 *
 * Wire types are not domain types. What programs outside read (`--json`, exports, and later REST
 * and MCP) is converted here, so that a change of a domain type can never silently change it. Every
 * documented field is always present; what is unknown is null.
 */

import { BackscrollError } from "../model/errors.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";

/** `2026-05-04T14:03:22.123Z`. */
export function toWireTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A date or a time that came in. `invalid_input` for anything else. */
export function fromWireTime(text: string, field: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d{2}/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new BackscrollError("invalid_input", `${field} must be a date or time in ISO 8601`, {
    details: { field },
  });
}

/** `firstKeptEntryId` becomes `first_kept_entry_id`. */
export function toWireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Renames the fields of an object of ours. What they hold is left alone: it may be a caller's. */
export function toWireFields(fields: { readonly [name: string]: JsonValue }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [toWireName(name), value]),
  );
}
