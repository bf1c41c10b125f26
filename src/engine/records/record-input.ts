/** The input of a record write, checked and completed. */

import { checkId, checkName } from "../../model/ids.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { describe, type JsonValue, stringifyJson } from "../../model/json.ts";
import {
  MAX_NAMESPACE_BYTES,
  MAX_RECORD_BATCH_BYTES,
  MAX_RECORD_BYTES,
  MAX_RECORD_KEY_BYTES,
  MAX_RECORD_OPERATIONS,
  MAX_RECORD_TEXT_BYTES,
} from "../../model/limits.ts";
import type { RecordValue } from "../../model/record.ts";
import { recordBytes } from "../../store/record/plan-records.ts";
import type { NewRecordValue, RecordPlace, RecordWrite } from "../../store/record/record-port.ts";
import { checkInput, checkKey, checkKeyOrNull, checkList, invalid, tooLarge } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { checkTtl } from "../session-input.ts";

export interface PutRecordInput {
  /** At most 512 bytes. */
  readonly namespace: string;
  /** At most 1,024 bytes. */
  readonly key: string;
  /** JSON, or bytes: at most 16 MiB. */
  readonly value: RecordValue;
  /** The text that `records.search` indexes: at most 256 KiB. It is deleted with the record. */
  readonly text?: string | null;
  /** Seconds until the record expires. Default or null: never. */
  readonly ttl?: number | null;
}

export interface CompareAndSetInput extends PutRecordInput {
  /** The version that the caller has read; null: no record. */
  readonly expectedVersion: string | null;
}

export interface DeleteRecordOptions {
  /** Compare-and-swap: fails with `record_conflict` at another version. */
  readonly expectedVersion?: string;
}

/** A `put`, a `delete` or a `check`. */
export interface RecordOperation {
  readonly put?: RecordPut;
  readonly delete?: RecordDelete;
  readonly check?: RecordCheck;
}

export interface RecordPut extends PutRecordInput {
  /** Default: replaces any version. */
  readonly expectedVersion?: string | null;
  /** An id for this write: a retry with the same id writes once. */
  readonly version?: string;
}

export interface RecordDelete {
  readonly namespace: string;
  readonly key: string;
  readonly expectedVersion?: string;
}

/** A condition of the write: the record exists. It stays as it is. */
export interface RecordCheck {
  readonly namespace: string;
  readonly key: string;
  /** Fails with `record_conflict` at another version. Default: any version. */
  readonly expectedVersion?: string;
}

export function checkPlace(namespace: unknown, key: unknown): RecordPlace {
  return { namespace: checkKey(namespace, "namespace"), key: checkKey(key, "key") };
}

/** The operations of one atomic write. */
export function toRecordWrites(
  engine: EngineContext,
  operations: readonly RecordOperation[],
): RecordWrite[] {
  checkList(operations, "operations");
  if (operations.length > MAX_RECORD_OPERATIONS) {
    const way = "split it into several calls, each of which is atomic";
    throw tooLarge("operations", MAX_RECORD_OPERATIONS, operations.length, way);
  }
  const now = engine.now();
  const writes = operations.map((operation) => toWrite(engine, operation, now));
  const places = new Set(writes.map(({ namespace, key }) => `${namespace}\u0000${key}`));
  if (places.size < writes.length) {
    throw invalid("operations", "operations name a record twice; keep only its last write");
  }
  const bytes = writes.reduce((sum, { put }) => sum + (put === null ? 0 : recordBytes(put)), 0);
  if (bytes > MAX_RECORD_BATCH_BYTES) {
    const way = "split it into several calls, each of which is atomic";
    throw tooLarge("operations in bytes", MAX_RECORD_BATCH_BYTES, bytes, way);
  }
  return writes;
}

function toWrite(engine: EngineContext, operation: RecordOperation, now: number): RecordWrite {
  const { put, delete: gone, check } = checkInput(operation, "operation", INPUTS.writeRecords);
  if ([put, gone, check].filter((part) => part !== undefined).length !== 1) {
    throw invalid("operation", "operation must have one of put, delete and check");
  }
  if (put !== undefined) {
    checkPart(put, "put", INPUTS["writeRecords.put"]);
    const version = put.version === undefined ? engine.newId() : checkId(put.version, "version");
    return {
      namespace: checkName(put.namespace, "namespace", MAX_NAMESPACE_BYTES),
      key: checkName(put.key, "key", MAX_RECORD_KEY_BYTES),
      ...expected(put.expectedVersion),
      put: { ...toValue(put.value), version, text: checkRecordText(put.text), ...life(put, now) },
    };
  }
  const { namespace, key, expectedVersion } =
    check === undefined
      ? checkPart(gone as RecordDelete, "delete", INPUTS["writeRecords.delete"])
      : checkPart(check, "check", INPUTS["writeRecords.check"]);
  const write = { ...checkPlace(namespace, key), ...expected(expectedVersion), put: null };
  return check === undefined ? write : { ...write, isCheck: true };
}

function expected(version: string | null | undefined): Pick<RecordWrite, "expectedVersion"> {
  if (version === undefined) return {};
  return { expectedVersion: checkKeyOrNull(version, "expectedVersion") };
}

function life({ ttl }: PutRecordInput, now: number): Pick<NewRecordValue, "expiresAt"> {
  const seconds = checkTtl(ttl ?? null);
  const expiresAt = seconds === null ? null : now + 1_000 * seconds;
  if (expiresAt !== null && expiresAt > LAST_MOMENT) {
    throw invalid("ttl", "ttl ends after the year 9999; leave it out for a record without expiry");
  }
  return { expiresAt };
}

function toValue(value: RecordValue): Pick<NewRecordValue, "bytes" | "isJson"> {
  const isJson = !(value instanceof Uint8Array);
  const bytes = isJson ? toJsonBytes(value) : value;
  if (bytes.length > MAX_RECORD_BYTES) {
    const way =
      "store it in a file and name the file in the record, or split it over several records";
    throw tooLarge("value in bytes", MAX_RECORD_BYTES, bytes.length, way);
  }
  return { bytes, isJson };
}

function toJsonBytes(value: JsonValue): Uint8Array {
  if (value === undefined) {
    throw invalid("value", `value must be JSON or a Uint8Array, not ${describe(value)}`);
  }
  return Buffer.from(stringifyJson(value, "value"));
}

function checkRecordText(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  if (typeof text !== "string")
    throw invalid("text", `text must be a string, not ${describe(text)}`);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_RECORD_TEXT_BYTES) return text;
  throw tooLarge("text in bytes", MAX_RECORD_TEXT_BYTES, bytes, "shorten the search text");
}

/** Later times have a year of five digits. */
const LAST_MOMENT = Date.UTC(10_000, 0) - 1;
