/** The records of a tenant: values under a namespace and a key, with versions and expiry. */

import { BackscrollError } from "../../model/errors.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { DEFAULT_HITS, MAX_PAGE, MAX_RECORD_BATCH_BYTES } from "../../model/limits.ts";
import { memoryKey, readMemoryKey } from "../../model/note.ts";
import { PAGINGS, type Paged, readPaged } from "../../model/paged.ts";
import {
  namespaceOf,
  RECORD_KEY_PREFIX,
  type RecordHit,
  type RecordInfo,
  type RecordValue,
  recordOwner,
  type StoredRecord,
} from "../../model/record.ts";
import { rowDamaged } from "../../store/damage/damage-errors.ts";
import { parseStored } from "../../store/damage/stored-json.ts";
import type { RecordParts, RecordPlace, RecordRecord } from "../../store/record/record-port.ts";
import { nameOf } from "../../store/record/record-row.ts";
import { recordNotFound } from "../../store/store-errors.ts";
import {
  checkFlag,
  checkHits,
  checkInput,
  checkKey,
  checkLimit,
  checkList,
  invalid,
  tooLarge,
} from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { findNotes } from "../search.ts";
import {
  type CompareAndSetInput,
  checkPlace,
  type DeleteRecordOptions,
  type PutRecordInput,
  type RecordOperation,
  toRecordWrites,
} from "./record-input.ts";

export type { RecordRecord } from "../../store/record/record-port.ts";

export interface ListRecordsInput {
  readonly namespace: string;
  /** A key prefix. Default: all. */
  readonly prefix?: string;
  /** `next` of the previous page. */
  readonly cursor?: string;
  /** At most 500. Default 50. A page with values also ends after 17 MiB. */
  readonly limit?: number;
  /** Whether values are included. */
  readonly values?: boolean;
}

export interface RecordPage<Item = RecordInfo> {
  /** By the UTF-8 bytes of their keys. */
  readonly records: readonly Item[];
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string;
}

export interface SearchRecordsInput {
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** A key prefix within the namespace. Default: all. */
  readonly prefix?: string;
  /** At most 20. Default 10. */
  readonly limit?: number;
}

/** The calls of records, local or remote. */
export type RecordsApi = Pick<
  Records,
  "put" | "compareAndSet" | "delete" | "write" | "get" | "find" | "getMany" | "list" | "search"
>;

export class Records {
  readonly #engine: EngineContext;

  constructor(engine: EngineContext) {
    this.#engine = engine;
  }

  /** Writes a record, replacing one under the same key. */
  async put(input: PutRecordInput): Promise<RecordInfo> {
    return this.#putOne(checkInput(input, "record", INPUTS.putRecord));
  }

  /** Compare-and-swap: as `put`, if the record is at the given version; else `record_conflict`. */
  async compareAndSet(input: CompareAndSetInput): Promise<RecordInfo> {
    checkInput(input, "record", INPUTS.compareAndSetRecord);
    if (input.expectedVersion === undefined) {
      throw invalid(
        "expectedVersion",
        "expectedVersion must be a version, or null for a new record",
      );
    }
    return this.#putOne(input);
  }

  /** Throws `record_not_found`. */
  async delete(namespace: string, key: string, options: DeleteRecordOptions = {}): Promise<void> {
    checkInput(options, "options", INPUTS.deleteRecord);
    await this.write([{ delete: { namespace, key, ...options } }]);
  }

  /**
   * Puts and deletes records in one transaction, if all records that it checks exist: at most 1,000
   * operations. Gives a result per operation: null for a deletion and a check.
   */
  async write(operations: readonly RecordOperation[]): Promise<readonly (RecordInfo | null)[]> {
    const writes = toRecordWrites(this.#engine, operations);
    if (writes.length === 0) return [];
    const { store, tenant } = this.#engine;
    return store.writeRecords(tenant, { operations: writes, now: this.#engine.now() });
  }

  /** The record; throws `record_not_found`. */
  async get(namespace: string, key: string): Promise<StoredRecord> {
    const record = await this.find(namespace, key);
    if (record === undefined) throw recordNotFound(namespace, key);
    return record;
  }

  async find(namespace: string, key: string): Promise<StoredRecord | undefined> {
    const [record] = await this.getMany(namespace, [key]);
    return record;
  }

  /** The records under some keys, at most 500, in order; undefined for missing ones. */
  async getMany(
    namespace: string,
    keys: readonly string[],
  ): Promise<readonly (StoredRecord | undefined)[]> {
    const found = new Map<string, StoredRecord>();
    for (const record of await this.readStored(namespace, keys)) {
      found.set(record.key, toStored(record));
    }
    return keys.map((key) => found.get(key));
  }

  /** The existing ones, with stored values, for callers that forward them. */
  async readStored(namespace: string, keys: readonly string[]): Promise<readonly RecordRecord[]> {
    const places = checkPlaces(namespace, keys);
    return places.length === 0 ? [] : this.#read(places, "all");
  }

  /** As `readStored`, bounded to one answer's size; `left` are the remaining keys. */
  async readFitting(
    namespace: string,
    keys: readonly string[],
  ): Promise<{ readonly records: readonly RecordRecord[]; readonly left: readonly string[] }> {
    const which = checkPlaces(namespace, keys);
    if (which.length === 0) return { records: [], left: [] };
    const { store, tenant } = this.#engine;
    const { records, more } = await store.readRecords(tenant, {
      which,
      now: this.#engine.now(),
      parts: "all",
      maxBytes: MAX_RECORD_BATCH_BYTES,
    });
    const last = which.findIndex(({ key }) => key === records.at(-1)?.key);
    return { records, left: more ? which.slice(last + 1).map(({ key }) => key) : [] };
  }

  /** Records of a namespace by key. */
  list(
    input: ListRecordsInput & { readonly values: true },
  ): Promise<Paged<RecordPage<StoredRecord>, StoredRecord>>;
  list(input: ListRecordsInput): Promise<Paged<RecordPage, RecordInfo>>;
  list(input: ListRecordsInput): Promise<Paged<RecordPage, RecordInfo>> {
    return readPaged(PAGINGS.listRecords, input, async (each) => {
      const { records, next } = await this.listStored(each);
      return {
        records: records.map(each.values ? toStored : toInfo),
        ...(next === undefined ? {} : { next }),
      };
    });
  }

  /** As `list`, with stored values, for callers that forward them. */
  async listStored(input: ListRecordsInput): Promise<RecordPage<RecordRecord>> {
    const { namespace, cursor } = checkInput(input, "options", INPUTS.listRecords);
    const which = {
      namespace: checkKey(namespace, "namespace"),
      prefix: checkKey(input.prefix ?? "", "prefix"),
      limit: checkLimit(input.limit),
      maxBytes: MAX_RECORD_BATCH_BYTES,
      ...(cursor === undefined ? {} : { after: { namespace, key: parseCursor(cursor) } }),
    };
    const parts = checkFlag(input.values ?? false, "values") ? "all" : "info";
    const { store, tenant } = this.#engine;
    const now = this.#engine.now();
    const { records, more } = await store.readRecords(tenant, { which, now, parts });
    const last = records.at(-1);
    return {
      records,
      ...(more && last !== undefined ? { next: formatCursor(last.key) } : {}),
    };
  }

  /** The records whose texts and keys match best, without their values. */
  async search(query: string, input: SearchRecordsInput = {}): Promise<readonly RecordHit[]> {
    checkInput(input, "options", INPUTS.searchRecords);
    const { namespace } = input;
    const begin = checkKey(input.prefix ?? "", "prefix");
    if (namespace === undefined && begin !== "") {
      throw invalid("prefix", "prefix needs a namespace; give one");
    }
    const prefix =
      namespace === undefined
        ? RECORD_KEY_PREFIX
        : memoryKey(recordOwner(checkKey(namespace, "namespace")), begin);
    const limit = checkHits(input.limit, "limit", DEFAULT_HITS);
    const keys = await findNotes(this.#engine, "memory", query, limit, prefix);
    const places = keys.map((found) => {
      const { agent, name } = readMemoryKey(found);
      return { namespace: namespaceOf(agent) ?? "", key: name };
    });
    const records = places.length === 0 ? [] : await this.#read(places, "text");
    // Leaves out records that were deleted, or rewritten without a text, since.
    return records.flatMap((record) =>
      record.text === null ? [] : [{ ...toInfo(record), text: record.text }],
    );
  }

  async #putOne(put: PutRecordInput | CompareAndSetInput): Promise<RecordInfo> {
    const [info] = await this.write([{ put }]);
    return info as RecordInfo;
  }

  async #read(which: readonly RecordPlace[], parts: RecordParts): Promise<readonly RecordRecord[]> {
    const { store, tenant } = this.#engine;
    const now = this.#engine.now();
    return (await store.readRecords(tenant, { which, now, parts })).records;
  }
}

/** Checks that keys are distinct. */
function checkPlaces(namespace: string, keys: readonly string[]): RecordPlace[] {
  checkList(keys, "keys");
  if (keys.length > MAX_PAGE)
    throw tooLarge("keys", MAX_PAGE, keys.length, "ask for them in parts");
  return [...new Set(keys)].map((key) => checkPlace(namespace, key));
}

function toInfo({ bytes: _, text: __, ...info }: RecordRecord): RecordInfo {
  return info;
}

export function toStored(record: RecordRecord): StoredRecord {
  return { ...toInfo(record), text: record.text, value: readValue(record) };
}

function readValue(record: RecordRecord): RecordValue {
  const bytes = record.bytes ?? new Uint8Array();
  // A driver may return a subclass of Uint8Array.
  if (record.type === "bytes") return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const damaged = (cause: unknown) => rowDamaged(nameOf(record), "its value is no JSON", cause);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return parseStored(text, damaged) as RecordValue;
}

function formatCursor(key: string): string {
  return Buffer.from(`r1:${key}`).toString("base64url");
}

function parseCursor(cursor: string): string {
  const text = Buffer.from(String(cursor), "base64url").toString();
  if (text.startsWith("r1:")) return checkKey(text.slice("r1:".length), "cursor");
  throw new BackscrollError(
    "invalid_cursor",
    "cursor was not given by a list of records; start without one",
    { details: { field: "cursor" } },
  );
}

type Range = Omit<ListRecordsInput, "cursor">;

/**
 * By key; `limit` is the page size. From the second page on, the next one is read while the caller works on
 * this one: a caller that needs only the first reads no other.
 */
export function eachRecord(
  records: RecordsApi,
  range: Range & { readonly values: true },
): AsyncGenerator<StoredRecord>;
export function eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo>;
export async function* eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo> {
  const read = (cursor: string) => {
    const page = records.list({ limit: MAX_PAGE, ...range, cursor });
    // A caller that stops early does not wait for it.
    page.catch(() => undefined);
    return page;
  };
  const first = await records.list({ limit: MAX_PAGE, ...range });
  yield* first.records;
  let page = first.next === undefined ? undefined : read(first.next);
  while (page !== undefined) {
    const { records: found, next } = await page;
    page = next === undefined ? undefined : read(next);
    yield* found;
  }
}
