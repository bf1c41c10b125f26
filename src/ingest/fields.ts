/** Reading fields of foreign records: what is not of the expected type is not there. */

import type { JsonObject, JsonValue } from "../model/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/** Token counts, indexes: whole and not negative. */
export function countField(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** Epoch milliseconds of a number or of an ISO 8601 text. */
export function timeField(fields: Fields, name: string): number | null {
  const value = fields[name];
  const time = typeof value === "string" ? Date.parse(value) : value;
  return Number.isSafeInteger(time) && (time as number) >= 0 && (time as number) <= 8.64e15
    ? (time as number)
    : null;
}

/** The fields that are not among `known`, as they came. */
export function otherFields(fields: Fields, known: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !known.includes(name)),
  ) as JsonObject;
}

/** Leaves out what is undefined or an empty object. */
export function presentFields(fields: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && !isEmptyObject(value)),
  ) as JsonObject;
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === 0
  );
}
