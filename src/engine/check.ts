/** Argument checks shared by several calls. Each throws a coded error that names the field. */

import type { Usage } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields, checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe, isPlainObject, type JsonObject, stringifyJson } from "../model/json.ts";
import { DEFAULT_PAGE, MAX_HITS, MAX_METADATA_BYTES, MAX_PAGE } from "../model/limits.ts";

export function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

export function tooLarge(
  field: string,
  limit: number,
  actual: number,
  way: string,
): BackscrollError {
  return new BackscrollError(
    "too_large",
    `${field} is ${actual}; at most ${limit} is allowed; ${way}`,
    { details: { field, limit, actual } },
  );
}

/** An id or a name to look up: any storable text; an unknown one is not found. */
export function checkKey(value: unknown, field: string): string {
  if (typeof value !== "string") {
    throw invalid(field, `${field} must be a string, not ${describe(value)}`);
  }
  if (value.includes("\0") || !value.isWellFormed()) {
    throw invalid(field, `${field} must be well-formed Unicode without a NUL character`);
  }
  return value;
}

/** As `checkKey`, also accepting null. */
export function checkKeyOrNull(value: unknown, field: string): string | null {
  return value === null ? null : checkKey(value, field);
}

/** Checks that a call has only fields of `INPUTS`, each of its kind. */
export const checkInput: typeof checkFields = checkFields;

/** An object with any fields. */
export function checkObject<Value extends object>(value: Value, field: string): Value {
  if (isPlainObject(value)) return value;
  throw invalid(field, `${field} must be an object, not ${describe(value)}`);
}

export function checkList<Item>(value: readonly Item[], field: string): readonly Item[] {
  if (Array.isArray(value)) return value;
  throw invalid(field, `${field} must be an array, not ${describe(value)}`);
}

export function checkFlag(value: unknown, field: string): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(field, `${field} must be true or false, not ${describe(value)}`);
}

/** A page size between 1 and the maximum. */
export function checkLimit(limit: unknown): number {
  return checkSize(limit, "limit", DEFAULT_PAGE, MAX_PAGE, "page through the rest");
}

/** The number of results: hits of a search, sessions of a recap. */
export function checkHits(
  value: unknown,
  field: string,
  preset: number,
  most: number = MAX_HITS,
): number {
  return checkSize(value, field, preset, most, "narrow the search down");
}

function checkSize(
  value: unknown,
  field: string,
  preset: number,
  most: number,
  way: string,
): number {
  if (value === undefined) return preset;
  const count = checkCount(value, field);
  if (count < 1) throw invalid(field, `${field} must be a whole number of at least 1`);
  if (count > most) throw tooLarge(field, most, count, way);
  return count;
}

export function checkCount(value: unknown, field: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  const shown = typeof value === "number" ? String(value) : describe(value);
  throw invalid(field, `${field} must be a whole number of at least 0, not ${shown}`);
}

/** Times are given as epoch milliseconds or as a Date. */
export function checkTime(value: unknown, field: string): number {
  const time = value instanceof Date ? value.getTime() : value;
  if (Number.isSafeInteger(time) && (time as number) >= 0) return time as number;
  throw invalid(field, `${field} must be a Date or epoch milliseconds, not ${describe(value)}`);
}

export interface Period {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/** In epoch milliseconds. Refuses a period whose end is before its start. */
export function checkPeriod(input: {
  readonly since?: number | Date | undefined;
  readonly until?: number | Date | undefined;
}): Period {
  const since = input.since === undefined ? undefined : checkTime(input.since, "since");
  const until = input.until === undefined ? undefined : checkTime(input.until, "until");
  if (since === undefined || until === undefined || since <= until) return { since, until };
  const [from, to] = [since, until].map((time) => new Date(time).toISOString());
  throw invalid("since", `since (${from}) is after until (${to}); swap them, or leave one out`);
}

export function checkOneOf<Value extends string>(
  value: unknown,
  allowed: readonly Value[],
  field: string,
): Value {
  if (allowed.includes(value as Value)) return value as Value;
  throw invalid(field, `${field} must be one of ${allowed.join(", ")}`);
}

export function checkMetadata(value: unknown, field = "metadata"): JsonObject {
  if (!isPlainObject(value))
    throw invalid(field, `${field} must be an object, not ${describe(value)}`);
  const text = stringifyJson(value, field);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_METADATA_BYTES) {
    throw tooLarge(
      `${field} in bytes`,
      MAX_METADATA_BYTES,
      bytes,
      "store large values in messages",
    );
  }
  return JSON.parse(text) as JsonObject;
}

/** The usage that a provider reported, in part or in full. */
export type UsageInput = Partial<Usage>;

export function checkUsage(value: UsageInput, field = "usage"): Usage {
  const {
    inputTokens = 0,
    outputTokens = 0,
    cacheCreationTokens = 0,
    cacheReadTokens = 0,
  } = checkPart(value, field, INPUTS["append.usage"]);
  return { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens };
}
