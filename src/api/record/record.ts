/** Records on the wire. Values travel beside the JSON: see `record-frame.ts`. */

import type { RECORD_INFO, RecordType } from "../../model/record.ts";
import type { WireOf } from "../shape.ts";

export type WireRecordInfo = WireOf<typeof RECORD_INFO>;

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
