/**
 * Records on the wire. Values travel beside the JSON, unencoded, in a frame: the length of a JSON
 * part in four bytes, big-endian; the JSON; then the values in order, with their sizes in the JSON.
 */

import type { RECORD_INFO, RecordType } from "../model/record.ts";
import type { WireOf } from "./shape.ts";

type WireRecordInfo = WireOf<typeof RECORD_INFO>;

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
interface WireRecordCondition {
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

const LENGTH_BYTES = 4;

export function encodeFrame(head: object, values: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(head));
  const size = values.reduce((sum, value) => sum + value.length, LENGTH_BYTES + json.length);
  const frame = new Uint8Array(size);
  new DataView(frame.buffer).setUint32(0, json.length);
  frame.set(json, LENGTH_BYTES);
  let at = LENGTH_BYTES + json.length;
  for (const value of values) {
    frame.set(value, at);
    at += value.length;
  }
  return frame;
}

/** The JSON as bytes, and the rest. Undefined if the frame is truncated. */
export function splitFrame(
  frame: Uint8Array,
): { readonly json: Uint8Array; readonly rest: Uint8Array } | undefined {
  if (frame.length < LENGTH_BYTES) return undefined;
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(0);
  if (frame.length < LENGTH_BYTES + length) return undefined;
  const end = LENGTH_BYTES + length;
  return { json: frame.subarray(LENGTH_BYTES, end), rest: frame.subarray(end) };
}

/** `rest` in pieces of these sizes; undefined unless its length is their sum. */
export function cutValues(
  rest: Uint8Array,
  sizes: readonly number[],
): readonly Uint8Array[] | undefined {
  if (sizes.reduce((sum, size) => sum + size, 0) !== rest.length) return undefined;
  let at = 0;
  return sizes.map((size) => {
    const from = at;
    at += size;
    return rest.slice(from, at);
  });
}
