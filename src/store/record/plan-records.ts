/** Plans a write of records, for both backends. */

import type { RecordInfo } from "../../model/record.ts";
import { recordChange } from "../plan/new-changes.ts";
import type { NewChange } from "../plan/plan-append.ts";
import { recordConflict, recordNotFound } from "../store-errors.ts";
import type {
  NewRecordValue,
  RecordPlace,
  RecordWrite,
  WriteRecordsRequest,
} from "./record-port.ts";

/** The stored state of a record, expired or not. */
export interface CurrentRecord extends RecordInfo {
  /** Bytes of the value and of the text. */
  readonly contentBytes: number;
}

export interface RecordPlan {
  /** Rows to insert or replace. */
  readonly puts: readonly { readonly info: RecordInfo; readonly value: NewRecordValue }[];
  readonly deletes: readonly RecordPlace[];
  readonly changes: readonly NewChange[];
  /** Bytes added to the tenant's content. */
  readonly contentBytes: number;
  /** One per operation: see `RecordWrites`. */
  readonly results: readonly (RecordInfo | null)[];
}

/** `current` has the rows at the operations' places, in any order. */
export function planRecords(
  current: readonly CurrentRecord[],
  { operations, now }: WriteRecordsRequest,
): RecordPlan {
  const rows = new Map(current.map((record) => [placeKey(record), record]));
  const puts: { info: RecordInfo; value: NewRecordValue }[] = [];
  const deletes: RecordPlace[] = [];
  const changes: NewChange[] = [];
  let contentBytes = 0;
  const liveAt = (place: RecordPlace) => {
    const row = rows.get(placeKey(place));
    return row !== undefined && isLive(row, now) ? row : undefined;
  };
  const isStored = ({ put, ...place }: RecordWrite) =>
    put !== null && liveAt(place)?.version === put.version;
  // A retry of a write that was carried out: its checks held then.
  const changing = operations.filter(({ isCheck }) => !isCheck);
  const isRetry = changing.length > 0 && changing.every(isStored);
  const results = operations.map((operation) => {
    const row = rows.get(placeKey(operation));
    const live = liveAt(operation);
    const { put } = operation;
    if (live !== undefined && isStored(operation)) return withoutBytes(live);
    if (operation.isCheck && isRetry) return null;
    checkVersion(operation, live);
    if (operation.isCheck) return null;
    contentBytes -= row?.contentBytes ?? 0;
    const had = row?.indexed ?? false;
    if (put === null) {
      const { namespace, key, version } = live as CurrentRecord;
      deletes.push({ namespace, key });
      changes.push(recordChange("record_deleted", now, { namespace, key, version, indexed: had }));
      return null;
    }
    const info = toInfo(operation, put, live, now);
    const { namespace, key, version } = info;
    contentBytes += recordBytes(put);
    puts.push({ info, value: put });
    const indexed = had || info.indexed;
    changes.push(recordChange("record_put", now, { namespace, key, version, indexed }));
    return info;
  });
  return { puts, deletes, changes, contentBytes, results };
}

/** Plans the deletion of expired records by a sweep. */
export function planExpired(current: readonly CurrentRecord[], now: number): RecordPlan {
  const contentBytes = -current.reduce((sum, record) => sum + record.contentBytes, 0);
  return {
    puts: [],
    deletes: current.map(({ namespace, key }) => ({ namespace, key })),
    changes: current.map(({ namespace, key, version, indexed }) =>
      recordChange("record_deleted", now, { namespace, key, version, indexed }),
    ),
    contentBytes,
    results: [],
  };
}

/** Bytes of a record in the tenant's content. */
export function recordBytes({ bytes, text }: Pick<NewRecordValue, "bytes" | "text">): number {
  return bytes.length + (text === null ? 0 : Buffer.byteLength(JSON.stringify(text)));
}

function toInfo(
  { namespace, key }: RecordPlace,
  put: NewRecordValue,
  live: RecordInfo | undefined,
  now: number,
): RecordInfo {
  return {
    namespace,
    key,
    version: put.version,
    type: put.isJson ? "json" : "bytes",
    size: put.bytes.length,
    indexed: put.text !== null,
    expiresAt: put.expiresAt,
    createdAt: live?.createdAt ?? now,
    updatedAt: Math.max(now, live?.updatedAt ?? 0),
  };
}

function checkVersion(operation: RecordWrite, live: RecordInfo | undefined): void {
  const { namespace, key, expectedVersion } = operation;
  const version = live?.version ?? null;
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw recordConflict(namespace, key, version, expectedVersion);
  }
  if (operation.put === null && live === undefined) throw recordNotFound(namespace, key);
}

function isLive({ expiresAt }: RecordInfo, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}

function withoutBytes({ contentBytes: _, ...info }: CurrentRecord): RecordInfo {
  return info;
}

/** Neither part can contain the separator. */
function placeKey({ namespace, key }: RecordPlace): string {
  return `${namespace}\u0000${key}`;
}
