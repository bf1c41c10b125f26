/** Reads fields of foreign records: a value of an unexpected type counts as absent. */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** For objects under construction. */
export type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/** Empty if it is not an object. */
export function objectField(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isPlainObject(value) ? value : {};
}

/** The objects in a list; none if it is not a list. */
export function objectsIn(value: unknown): Fields[] {
  return (Array.isArray(value) ? value : []).filter(isPlainObject);
}

/** The limit of a name's length. */
const MAX_NAME = 64;

/**
 * A printable name of a foreign value, for ids, types and messages. `String` would call its
 * `toString`, which is untrusted.
 */
export function nameOf(value: unknown): string {
  if (typeof value === "string") return value;
  const text = value === undefined ? "undefined" : (JSON.stringify(value) ?? "undefined");
  return text.slice(0, MAX_NAME);
}

/** Token counts, indexes: non-negative integers. */
export function countField(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** A cost: a non-negative number. */
export function costField(fields: Fields, name: string): { readonly cost?: number } {
  const value = fields[name];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? { cost: value } : {};
}

/** Epoch milliseconds of a number or of an ISO 8601 text. */
export function timeField(fields: Fields, name: string): number | null {
  const value = fields[name];
  const time = typeof value === "string" ? Date.parse(value) : value;
  return Number.isSafeInteger(time) && (time as number) >= 0 && (time as number) <= 8.64e15
    ? (time as number)
    : null;
}

/** The fields that are not among `known`, unchanged. */
export function otherFields(fields: Fields, known: readonly string[]): JsonObject {
  const others: Record<string, unknown> = {};
  // A hot path: building pairs would cost four times as much.
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) setField(others, name, fields[name]);
  }
  return others as JsonObject;
}

/** Drops undefined values and empty objects. */
export function presentFields(fields: Record<string, JsonValue | undefined>): JsonObject {
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined && !isEmpty(value)) setField(present, name, value);
  }
  return present as JsonObject;
}

/** Sets a field of any foreign name, `__proto__` included. */
export function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, ...PLAIN });
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

/** Whether it is an object without fields. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const _ in value) return false;
  return true;
}
