/**
 * PostgreSQL's binary format, both ways.
 *
 * Reads `COPY … TO STDOUT (FORMAT binary)`, the only way `pg` returns bytes as bytes: in a row they
 * travel as hex. Writes array parameters: `pg` sends an array as text, bytes as hex digits, and every
 * element quoted and parsed. A Buffer is sent as binary, so an array encoded here takes half the
 * bytes, and a large batch half the time on both sides.
 */

import pg from "pg";
import type { Row } from "../records.ts";

/** Type OIDs of PostgreSQL's catalogue, which never change. */
const TYPES = { bytea: 17, bigint: 20, text: 25 };

/** Number of dimensions, null flag, element type; then a length and a lower bound. */
const ARRAY_HEADER_BYTES = 20;
const EMPTY_BYTES = 12;
const NULL_LENGTH = -1;
const BIGINT_BYTES = 8;
/** The most UTF-8 bytes per UTF-16 unit. */
const UTF8_BYTES = 3;

/** A `bigint[]`. */
export function bigints(values: readonly (number | null)[]): Uint8Array {
  const array = begin(TYPES.bigint, values, values.length * (4 + BIGINT_BYTES));
  let at = ARRAY_HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(value === null ? NULL_LENGTH : BIGINT_BYTES, at);
    if (value === null) continue;
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not an integer`);
    at = array.writeInt32BE(Math.floor(value / 2 ** 32), at);
    at = array.writeUInt32BE(value >>> 0, at);
  }
  return array.subarray(0, values.length === 0 ? EMPTY_BYTES : at);
}

/** A `text[]`. */
export function texts(values: readonly (string | null)[]): Uint8Array {
  // Allocates for the longest encoding: cheaper than measuring first.
  const most = values.reduce((sum, value) => sum + 4 + UTF8_BYTES * (value?.length ?? 0), 0);
  const array = begin(TYPES.text, values, most);
  let at = ARRAY_HEADER_BYTES;
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : array.write(value, at + 4);
    array.writeInt32BE(length, at);
    at += 4 + Math.max(0, length);
  }
  return array.subarray(0, values.length === 0 ? EMPTY_BYTES : at);
}

/** A `bytea[]`. */
export function byteas(values: readonly (Uint8Array | null)[]): Uint8Array {
  const bytes = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0);
  const array = begin(TYPES.bytea, values, bytes);
  let at = ARRAY_HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(value?.length ?? NULL_LENGTH, at);
    if (value === null) continue;
    array.set(value, at);
    at += value.length;
  }
  return array.subarray(0, values.length === 0 ? EMPTY_BYTES : at);
}

/**
 * An array with its header; its elements, of `bytes` with their lengths, are still to be written.
 */
function begin(type: number, values: readonly unknown[], bytes: number): Buffer {
  const array = Buffer.allocUnsafe(ARRAY_HEADER_BYTES + bytes);
  array.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

/** Types of the columns of a copy, in order. A number is a `bigint`. */
export type CopiedColumns = Readonly<Record<string, "number" | "bytes">>;

/** Signature, flags, and an empty extension. */
const HEADER_BYTES = 19;

export class BinaryCopy extends pg.Query {
  readonly received: Row[] = [];
  readonly #columns: readonly (readonly [name: string, kind: CopiedColumns[string]])[];
  /** Received bytes of an incomplete row. */
  #rest = Buffer.alloc(0);
  #begun = false;

  /** `done` is called once, with the error if any: the driver does not always emit its events. */
  constructor(sql: string, columns: CopiedColumns, done: (error?: Error | null) => void) {
    super(sql, undefined, done);
    this.#columns = Object.entries(columns);
  }

  /** Called by the driver. `chunk` is a view of reused memory. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    if (!this.#begun) {
      if (this.#rest.length < HEADER_BYTES) return;
      this.#begun = true;
      this.#rest = this.#rest.subarray(HEADER_BYTES);
    }
    for (;;) {
      const length = this.#readRow(this.#rest);
      if (length === undefined) return;
      this.#rest = this.#rest.subarray(length);
    }
  }

  /** Takes the first row of `bytes` and gives its length; undefined if it is incomplete. */
  #readRow(bytes: Buffer): number | undefined {
    // A column count of -1 ends the stream.
    if (bytes.length < 2 || bytes.readInt16BE(0) < 0) return undefined;
    let at = 2;
    const row: Record<string, Row[string]> = {};
    for (const [name, kind] of this.#columns) {
      if (at + 4 > bytes.length) return undefined;
      const length = bytes.readInt32BE(at);
      at += 4;
      const end = at + Math.max(0, length);
      if (end > bytes.length) return undefined;
      if (length === NULL_LENGTH) row[name] = null;
      else row[name] = kind === "bytes" ? bytes.subarray(at, end) : readNumber(bytes, at);
      at = end;
    }
    this.received.push(row);
    return at;
  }
}

/** Our integers are far below 2^53. */
function readNumber(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
