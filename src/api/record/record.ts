/** Records on the wire. Values travel beside the JSON: see `record-frame.ts`. */

import type { RecordInfo, RecordType } from "../../model/record.ts";
import { fromWireTime, toWireTime } from "../wire.ts";

export interface WireRecordInfo {
  readonly namespace: string;
  readonly key: string;
  readonly version: string;
  readonly type: RecordType;
  readonly size: number;
  readonly indexed: boolean;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface WireRecordHit extends WireRecordInfo {
  readonly text: string;
}

/** A record whose value, of `size` bytes, follows the JSON. */
export interface WireRecordHead extends WireRecordInfo {
  readonly text: string | null;
}

/** The JSON part of an answer to `readRecords`. */
export interface WireRecordsHead {
  readonly records: readonly WireRecordHead[];
  readonly next_cursor: string | null;
  /** Requested keys that did not fit: ask for them again. */
  readonly left: readonly string[];
}

/** A record that must exist, at a version if one is given. */
export interface WireRecordCondition {
  readonly namespace: string;
  readonly key: string;
  readonly expected_version?: string;
}

/** The JSON part of a request of `writeRecords`. */
export interface WireRecordWrites {
  readonly operations: readonly {
    readonly put?: {
      readonly namespace: string;
      readonly key: string;
      readonly type: RecordType;
      /** Bytes of the value; values follow the JSON in the order of the operations. */
      readonly size: number;
      readonly text?: string | null;
      readonly ttl?: number | null;
      readonly expected_version?: string | null;
      readonly version?: string;
    };
    readonly delete?: WireRecordCondition;
    readonly check?: WireRecordCondition;
  }[];
}

export function toWireRecordInfo(info: RecordInfo): WireRecordInfo {
  return {
    namespace: info.namespace,
    key: info.key,
    version: info.version,
    type: info.type,
    size: info.size,
    indexed: info.indexed,
    expires_at: info.expiresAt === null ? null : toWireTime(info.expiresAt),
    created_at: toWireTime(info.createdAt),
    updated_at: toWireTime(info.updatedAt),
  };
}

export function fromWireRecordInfo(info: WireRecordInfo): RecordInfo {
  return {
    namespace: info.namespace,
    key: info.key,
    version: info.version,
    type: info.type,
    size: info.size,
    indexed: info.indexed,
    expiresAt: info.expires_at === null ? null : fromWireTime(info.expires_at),
    createdAt: fromWireTime(info.created_at),
    updatedAt: fromWireTime(info.updated_at),
  };
}
