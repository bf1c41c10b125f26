/** Records of a remote tenant: the names, arguments and results of `Records`. */

import { RECORD_CALLS } from "../api/part-operations.ts";
import type { WireRecordHead, WireRecordsHead, WireRecordWrites } from "../api/records.ts";
import { cutValues, encodeFrame, splitFrame } from "../api/records.ts";
import { fromWire, type WireOf } from "../api/shape.ts";
import { toWireName } from "../api/wire.ts";
import type {
  CompareAndSetInput,
  DeleteRecordOptions,
  PutRecordInput,
  RecordOperation,
  RecordPut,
} from "../engine/records/record-input.ts";
import type { ListRecordsInput, RecordPage, RecordsApi } from "../engine/records/records.ts";
import { BackscrollError } from "../model/errors.ts";
import { describe, stringifyJson } from "../model/json.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { PAGINGS, type Paged, readPaged } from "../model/paged.ts";
import type { RecordInfo, RecordValue, StoredRecord } from "../model/record.ts";
import { RECORD_INFO } from "../model/record.ts";
import { notOurs } from "./failure.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { at, invalid, known, newKey, toBody, toQuery } from "./request.ts";

const PlainRecords: CallsOf<RecordsApi, typeof RECORD_CALLS> = callsOf<
  RecordsApi,
  typeof RECORD_CALLS
>(RECORD_CALLS);

export class RemoteRecords extends PlainRecords implements RecordsApi {
  async put(input: PutRecordInput): Promise<RecordInfo> {
    return this.#putOne(known("putRecord", input, "record"));
  }

  async compareAndSet(input: CompareAndSetInput): Promise<RecordInfo> {
    known("compareAndSetRecord", input, "record");
    if (input.expectedVersion === undefined) {
      throw invalid(
        "expectedVersion",
        "expectedVersion must be a version, or null for a new record",
      );
    }
    return this.#putOne(input);
  }

  async delete(namespace: string, key: string, options: DeleteRecordOptions = {}): Promise<void> {
    await this.write([{ delete: { namespace, key, ...known("deleteRecord", options) } }]);
  }

  async write(operations: readonly RecordOperation[]): Promise<readonly (RecordInfo | null)[]> {
    if (!Array.isArray(operations)) {
      throw invalid("operations", `operations must be an array, not ${describe(operations)}`);
    }
    if (operations.length === 0) return [];
    const values: Uint8Array[] = [];
    const wire = operations.map((operation) => toWireOperation(operation, values));
    const { records } = await this.connection.call<{
      readonly records: readonly (WireOf<typeof RECORD_INFO> | null)[];
    }>({
      method: "POST",
      path: "/v1/records/write",
      bytes: encodeFrame({ operations: wire }, values),
      // A put is recognised by its version, and its checks with it. A completed deletion would not be found.
      repeatable: operations.every(({ delete: gone }) => gone === undefined),
    });
    return records.map((info) => info && fromWire(RECORD_INFO, info));
  }

  async get(namespace: string, key: string): Promise<StoredRecord> {
    const found = await this.find(namespace, key);
    if (found !== undefined) return found;
    // The server reports the error.
    const path = at`/v1/records/${namespace}/${key}`;
    await this.connection.call({ method: "GET", path });
    return this.get(namespace, key);
  }

  async find(namespace: string, key: string): Promise<StoredRecord | undefined> {
    const [record] = await this.getMany(namespace, [key]);
    return record;
  }

  async getMany(
    namespace: string,
    keys: readonly string[],
  ): Promise<readonly (StoredRecord | undefined)[]> {
    if (!Array.isArray(keys)) {
      throw invalid("keys", `keys must be an array, not ${describe(keys)}`);
    }
    if (keys.length > MAX_PAGE) {
      throw new BackscrollError(
        "too_large",
        `keys is ${keys.length}; at most ${MAX_PAGE} is allowed; ask for them in parts`,
        { details: { field: "keys", limit: MAX_PAGE, actual: keys.length } },
      );
    }
    const found = new Map<string, StoredRecord>();
    for (let rest: readonly string[] = keys; rest.length > 0; ) {
      const { records, left } = await this.#read({ namespace, keys: rest });
      for (const record of records) found.set(record.key, record);
      rest = left;
    }
    return keys.map((key) => found.get(key));
  }

  list(
    input: ListRecordsInput & { readonly values: true },
  ): Promise<Paged<RecordPage<StoredRecord>, StoredRecord>>;
  list(input: ListRecordsInput): Promise<Paged<RecordPage, RecordInfo>>;
  list(input: ListRecordsInput): Promise<Paged<RecordPage, RecordInfo>> {
    return readPaged(PAGINGS.listRecords, input, (each) => this.#list(each));
  }

  async #list(input: ListRecordsInput): Promise<RecordPage> {
    const { namespace, values, ...range } = known("listRecords", input);
    if (values) {
      const { records, next } = await this.#read({ namespace, ...range });
      return { records, ...(next === undefined ? {} : { next }) };
    }
    const { records, next_cursor } = await this.connection.call<{
      readonly records: readonly WireOf<typeof RECORD_INFO>[];
      readonly next_cursor: string | null;
    }>({ method: "GET", path: at`/v1/records/${namespace}`, query: toQuery(range) });
    return {
      records: records.map((each) => fromWire(RECORD_INFO, each)),
      ...(next_cursor === null ? {} : { next: next_cursor }),
    };
  }

  async #putOne(put: RecordPut): Promise<RecordInfo> {
    const [info] = await this.write([{ put }]);
    return info as RecordInfo;
  }

  async #read(request: object): Promise<{
    readonly records: readonly StoredRecord[];
    readonly next: string | undefined;
    readonly left: readonly string[];
  }> {
    const frame = await this.connection.callBytes({
      method: "POST",
      path: "/v1/records/read",
      repeatable: true,
      body: toBody(request),
    });
    const { json, rest } = splitFrame(frame) ?? {};
    if (json === undefined || rest === undefined) throw this.#cutShort();
    const head = JSON.parse(new TextDecoder().decode(json)) as WireRecordsHead;
    const values = cutValues(
      rest,
      head.records.map(({ size }) => size),
    );
    if (values === undefined) throw this.#cutShort();
    return {
      records: head.records.map((record, i) => toStored(record, values[i] as Uint8Array)),
      next: head.next_cursor ?? undefined,
      left: head.left,
    };
  }

  #cutShort(): BackscrollError {
    return notOurs(this.connection.address, "its answer is truncated");
  }
}

/** Adds the value to `values`. A version chosen by the client makes the write repeatable. */
function toWireOperation(
  operation: RecordOperation,
  values: Uint8Array[],
): WireRecordWrites["operations"][number] {
  const { put, delete: gone, check } = known("writeRecords", operation, "operation");
  if ([put, gone, check].filter((part) => part !== undefined).length !== 1) {
    throw invalid("operation", "operation must have one of put, delete and check");
  }
  if (check !== undefined) {
    return { check: renamed(known("writeRecords.check", check, "check")) as never };
  }
  if (put === undefined) {
    return { delete: renamed(known("writeRecords.delete", gone as object, "delete")) as never };
  }
  const { value, version = newKey(), ...fields } = known("writeRecords.put", put, "put");
  const bytes = value instanceof Uint8Array ? value : toJsonBytes(value);
  values.push(bytes);
  const type = value instanceof Uint8Array ? "bytes" : "json";
  return { put: { ...renamed(fields), version, type, size: bytes.length } as never };
}

function renamed(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [toWireName(name), value]),
  );
}

function toJsonBytes(value: RecordValue): Uint8Array {
  if (value === undefined) {
    throw invalid("value", `value must be JSON or a Uint8Array, not ${describe(value)}`);
  }
  return new TextEncoder().encode(stringifyJson(value, "value"));
}

function toStored(head: WireRecordHead, bytes: Uint8Array): StoredRecord {
  const value: RecordValue =
    head.type === "bytes" ? bytes : (JSON.parse(new TextDecoder().decode(bytes)) as RecordValue);
  return { ...fromWire(RECORD_INFO, head), text: head.text, value };
}
