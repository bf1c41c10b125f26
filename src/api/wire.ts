/**
 * The wire format: snake_case names, ISO 8601 times.
 *
 * Wire types are not domain types. All output for programs (`--json`, exports, REST, MCP) is
 * converted here, so that a change of a domain type cannot silently change it. Every documented
 * field is always present; unknown values are null.
 */

import { BackscrollError } from "../model/errors.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";

/** `2026-05-04T14:03:22.123Z`. */
export function toWireTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A date or a time from a caller; throws `invalid_input` otherwise. */
export function parseWireTime(text: string, field: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d{2}/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new BackscrollError(
    "invalid_input",
    `${field} must be a date or time in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z`,
    {
      details: { field },
    },
  );
}

export function fromWireTime(text: string): number {
  return Date.parse(text);
}

/** Bytes are hexadecimal digits. */
export function toWireBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromWireBytes(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** `firstKeptEntryId` becomes `first_kept_entry_id`. */
export function toWireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Renames our object's fields. Values are unchanged: they may be a caller's. */
export function toWireFields(fields: { readonly [name: string]: JsonValue }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [toWireName(name), value]),
  );
}

/** `firstKeptEntryId` as a type becomes `first_kept_entry_id`. */
export type WireName<Name> = Name extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${WireName<Tail>}`
    : `_${Lowercase<Head>}${WireName<Tail>}`
  : Name;

/** `first_kept_entry_id` as a type becomes `firstKeptEntryId`. */
type OwnName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<OwnName<Tail>>}`
  : Name;

/** The present fields of a wire object by our names. */
export type OwnFields<Fields> = {
  [Name in keyof Fields as OwnName<Name>]: Exclude<Fields[Name], undefined>;
};

/** `first_kept_entry_id` becomes `firstKeptEntryId`. */
export function fromWireName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The inverse: values are unchanged, and undefined fields are dropped. */
export function fromWireFields<Fields extends object>(fields: Fields): OwnFields<Fields> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [fromWireName(name), value]),
  ) as OwnFields<Fields>;
}
