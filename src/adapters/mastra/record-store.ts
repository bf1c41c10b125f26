/** Batched access to the records of a namespace. */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import type { JsonValue } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { RecordInfo, StoredRecord } from "../../model/record.ts";
import { deleteBelow, deleteKeys } from "../common/delete-records.ts";
import { readAhead } from "../common/read-ahead.ts";
import { invalid } from "./paging.ts";

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
