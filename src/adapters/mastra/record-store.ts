/** Records of the memory domain: batched access, keys, pages. */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import type { RecordsApi } from "../../engine/records/records.ts";
import { eachRecord } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isSameJson, type JsonValue } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { RecordInfo, StoredRecord } from "../../model/record.ts";
import { deleteBelow, deleteKeys, escaped, plain } from "../common/records.ts";
import { readAhead } from "../common/sessions.ts";
import type { DateRange, Order, Page, Paging, PerPage } from "./sdk-types.ts";

export class RecordStore {
  readonly #records: RecordsApi;
  readonly #namespace: string;

  constructor(records: RecordsApi, namespace: string) {
    this.#records = records;
    this.#namespace = namespace;
  }

  async find(key: string): Promise<StoredRecord | undefined> {
    return (await this.findAll([key])).get(key);
  }

  /** The existing records, by key. */
  async findAll(keys: Iterable<string>): Promise<Map<string, StoredRecord>> {
    const all = [...new Set(keys)];
    const found = new Map<string, StoredRecord>();
    const parts: string[][] = [];
    for (let i = 0; i < all.length; i += MAX_PAGE) parts.push(all.slice(i, i + MAX_PAGE));
    const read = (part: readonly string[]) => this.#records.getMany(this.#namespace, part);
    for await (const records of readAhead(parts, read)) {
      for (const record of records) if (record !== undefined) found.set(record.key, record);
    }
    return found;
  }

  /** `limit` is the size of a page. */
  infos(prefix: string, limit: number = MAX_PAGE): AsyncGenerator<RecordInfo> {
    return eachRecord(this.#records, { namespace: this.#namespace, prefix, limit });
  }

  values(prefix: string, limit: number = MAX_PAGE): AsyncGenerator<StoredRecord> {
    return eachRecord(this.#records, { namespace: this.#namespace, prefix, limit, values: true });
  }

  put(
    key: string,
    value: JsonValue,
    options: { readonly expectedVersion?: string | null; readonly text?: string | null } = {},
  ): RecordOperation {
    return { put: { namespace: this.#namespace, key, value, ...options } };
  }

  delete(key: string, options: { readonly expectedVersion?: string } = {}): RecordOperation {
    return { delete: { namespace: this.#namespace, key, ...options } };
  }

  /** In one transaction. Gives a result per operation: null for a deletion. */
  write(operations: readonly RecordOperation[]): Promise<readonly (RecordInfo | null)[]> {
    return this.#records.write(operations);
  }

  /** Deletes the existing ones. */
  async deleteAll(keys: readonly string[]): Promise<void> {
    await deleteKeys(this.#records, this.#namespace, keys);
  }

  async clear(): Promise<void> {
    await deleteBelow(this.#records, this.#namespace, "");
  }
}

/** JSON as other stores write it: dates as texts, without undefined fields. */
export function toJson(value: unknown, field: string): JsonValue {
  return JSON.parse(toJsonText(value, field)) as JsonValue;
}

export function toJsonText(value: unknown, field: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw invalid(field, `${field} must be JSON, without cycles and BigInts`);
  }
}

/** The current time, or a millisecond after `before` if that is later. */
export function timeAfter(before: Date): Date {
  return new Date(Math.max(Date.now(), before.getTime() + 1));
}

export function toDate(value: unknown, field: string): Date {
  const date = new Date(value as string | number | Date);
  if (Number.isSafeInteger(date.getTime()) && date.getTime() >= 0) return date;
  throw invalid(field, `${field} must be a date since 1970`);
}

/** Throws `invalid_input` for anything but text that a key can hold. */
export function checkName(value: unknown, field: string): string {
  if (typeof value === "string" && value.trim() !== "" && value.isWellFormed()) return value;
  throw invalid(field, `${field} must be a non-empty string`);
}

// The keys of the records of a namespace. A message's key names its thread, its time and its resource, so
// that messages are filtered, counted and ordered without being read; the newest of a thread come first.

/** The fields that a message's key encodes. */
export interface MessagePlace {
  readonly key: string;
  readonly threadId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** When it was stored: orders messages of the same time. */
  readonly stamp: number;
  /** Empty if it has none. */
  readonly resourceId: string;
  readonly id: string;
}

/** Times and stamps are counted down from here. */
const LAST = 9_000_000_000_000_000;

export function messagePlace(place: Omit<MessagePlace, "key">): MessagePlace {
  const { threadId, time, stamp, resourceId, id } = place;
  const parts = [countdown(time), countdown(stamp), escaped(resourceId), escaped(id)];
  return { ...place, key: `${messagesOf(threadId)}${parts.join("/")}` };
}

export function readMessagePlace(key: string): MessagePlace {
  const [, thread = "", time, stamp, resource = "", id = ""] = key.split("/");
  return {
    key,
    threadId: plain(thread),
    time: LAST - Number(time),
    stamp: LAST - Number(stamp),
    resourceId: plain(resource),
    id: plain(id),
  };
}

/** The prefix of a thread's messages. */
export function messagesOf(threadId: string): string {
  return `message/${escaped(threadId)}/`;
}

/** The record under this key has the message's key. */
export function idKey(messageId: string): string {
  return `id/${escaped(messageId)}`;
}

export const THREADS = "thread/";

export function threadKey(threadId: string): string {
  return `${THREADS}${escaped(threadId)}`;
}

/** Marks a thread that belongs or belonged to the resource, or has a message of it. */
export function ownerKey(resourceId: string, threadId: string): string {
  return `${threadsOf(resourceId)}${escaped(threadId)}`;
}

export function threadsOf(resourceId: string): string {
  return `owner/${escaped(resourceId)}/`;
}

export function threadOfOwner(key: string): string {
  return plain(key.slice(key.lastIndexOf("/") + 1));
}

export function resourceKey(resourceId: string): string {
  return `resource/${escaped(resourceId)}`;
}

/** The prefix of the observations of a thread or, without one, of a resource. */
export function observationsOf(threadId: string | null, resourceId: string): string {
  const isThreads = threadId !== null && threadId !== "";
  const owner = isThreads ? `thread/${escaped(threadId)}` : `resource/${escaped(resourceId)}`;
  return `observation/${owner}/`;
}

/** Newer generations come first, and of one generation the newest record. */
export function observationKey(
  prefix: string,
  place: { readonly generation: number; readonly stamp: number; readonly id: string },
): string {
  const { generation, stamp, id } = place;
  return `${prefix}${countdown(generation)}/${countdown(stamp)}/${escaped(id)}`;
}

/** The record under this key has the key of the observations. */
export function observationIdKey(id: string): string {
  return `observation-id/${escaped(id)}`;
}

function countdown(value: number): string {
  return String(LAST - value).padStart(16, "0");
}

/** Pages, orders and filters of lists. */
interface Slice {
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
