/**
 * Array parameters in PostgreSQL's binary format.
 *
 * `pg` sends an array as text: bytes as hex digits, and every element quoted and parsed. A Buffer
 * is sent as binary, so an array encoded here takes half the bytes, and a large batch half the time
 * on both sides.
 */

/** Type OIDs of PostgreSQL's catalogue, which never change. */
const TYPES = { bytea: 17, bigint: 20, text: 25 };

/** Number of dimensions, null flag, element type; then a length and a lower bound. */
const HEADER_BYTES = 20;
const EMPTY_BYTES = 12;
const NULL_LENGTH = -1;
const BIGINT_BYTES = 8;
/** The most UTF-8 bytes per UTF-16 unit. */
const UTF8_BYTES = 3;

/** A `bigint[]`. */
export function bigints(values: readonly (number | null)[]): Uint8Array {
  const array = begin(TYPES.bigint, values, values.length * (4 + BIGINT_BYTES));
  let at = HEADER_BYTES;
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
  let at = HEADER_BYTES;
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
  let at = HEADER_BYTES;
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
  const array = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  array.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  return array;
}
