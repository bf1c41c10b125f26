/** Pages, orders and filters of lists. */

import { BackscrollError } from "../../model/errors.ts";
import { isSameJson, type JsonValue } from "../../model/json.ts";
import type { DateRange, Order, Page, Paging, PerPage } from "./sdk-types.ts";

export interface Slice {
  readonly offset: number;
  readonly limit: number;
  readonly page: number;
  readonly perPage: PerPage;
}

/** The requested part of a list. */
export function sliceOf({ page = 0, perPage: given }: Paging, usual: number): Slice {
  const perPage = given ?? usual;
  if (perPage === false) {
    if (page !== 0) throw invalid("page", "page must be 0 where perPage is false");
    return { offset: 0, limit: Number.MAX_SAFE_INTEGER, page, perPage };
  }
  if (!Number.isSafeInteger(perPage) || perPage < 0) {
    throw invalid("perPage", "perPage must be >= 0, or false for all");
  }
  if (!Number.isSafeInteger(page) || page < 0) throw invalid("page", "page must be >= 0");
  const offset = page * perPage;
  if (offset > Number.MAX_SAFE_INTEGER / 2) throw invalid("page", "page value too large");
  return { offset, limit: perPage, page, perPage };
}

export function pageOf({ offset, limit, page, perPage }: Slice, total: number): Page {
  return { total, page, perPage, hasMore: limit > 0 && offset + limit < total };
}

/** -1 for descending, 1 for ascending. */
export function directionOf(order: Order | undefined, usual: "ASC" | "DESC"): 1 | -1 {
  const { direction = usual } = order ?? {};
  if (direction === "ASC") return 1;
  if (direction === "DESC") return -1;
  throw invalid("orderBy.direction", "orderBy.direction must be ASC or DESC");
}

export function fieldOf(order: Order | undefined): "createdAt" | "updatedAt" {
  const { field = "createdAt" } = order ?? {};
  if (field === "createdAt" || field === "updatedAt") return field;
  throw invalid("orderBy.field", "orderBy.field must be createdAt or updatedAt");
}

export function isWithin(time: number, range: DateRange | undefined): boolean {
  if (range === undefined) return true;
  const start = range.start === undefined ? -Infinity : new Date(range.start).getTime();
  const end = range.end === undefined ? Infinity : new Date(range.end).getTime();
  if (time < start || time > end) return false;
  return !(range.startExclusive && time === start) && !(range.endExclusive && time === end);
}

const NAMES = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const RESERVED = ["__proto__", "prototype", "constructor"];

/**
 * The required pairs of metadata; no pair matches all. Throws a `TypeError`, as Mastra's stores do.
 */
export function checkWanted(
  wanted: Readonly<Record<string, unknown>> | undefined,
): [string, JsonValue][] {
  const pairs = Object.entries(wanted ?? {});
  for (const [name] of pairs) {
    if (NAMES.test(name) && !RESERVED.includes(name)) continue;
    const why = "use letters, digits and underscores, no digit first, at most 128";
    throw wrongFilter(`Invalid metadata key: ${name.slice(0, 128)}; ${why}`);
  }
  return pairs as [string, JsonValue][];
}

/** As `checkWanted`: of messages, only texts, numbers, booleans and null are compared. */
export function checkScalars(
  wanted: Readonly<Record<string, unknown>> | undefined,
): [string, JsonValue][] {
  const pairs = checkWanted(wanted);
  for (const [name, value] of pairs) {
    const isScalar = value === null || ["string", "boolean"].includes(typeof value);
    if (isScalar || Number.isFinite(value)) continue;
    const why = "must be a string, a finite number, a boolean or null";
    throw wrongFilter(`filter.metadata.${name} ${why}`);
  }
  return pairs;
}

function wrongFilter(message: string): TypeError {
  const details = { field: "filter.metadata" };
  return Object.assign(new TypeError(message), { code: "invalid_input", details });
}

export function hasAll(
  metadata: Readonly<Record<string, unknown>> | undefined,
  wanted: readonly (readonly [string, JsonValue])[],
): boolean {
  if (wanted.length === 0) return true;
  if (metadata === undefined) return false;
  return wanted.every(
    ([name, value]) =>
      Object.hasOwn(metadata, name) && isSameJson(metadata[name] as JsonValue, value),
  );
}

export function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
