/**
 * A term in UTF-8, in a reusable buffer. A dictionary is written and merged term by term: strings
 * would be created, compared and discarded.
 */

const ENCODER = new TextEncoder();
/** Keeps a byte order mark. Treats lone surrogates as the encoder does. */
const UTF16 = new TextDecoder("utf-16le", { ignoreBOM: true });

export class TermBytes {
  bytes: Uint8Array = new Uint8Array(256);
  length = 0;

  set(term: string): void {
    this.reserve(3 * term.length);
    this.length = ENCODER.encodeInto(term, this.bytes).written;
  }

  /** The term of the UTF-16 units from `from` to `end`. */
  setLetters(units: Uint16Array, from: number, end: number): void {
    this.reserve(end - from);
    const { bytes } = this;
    for (let i = from; i < end; i++) {
      const unit = units[i] as number;
      if (unit >= 0x80) {
        this.set(UTF16.decode(units.subarray(from, end)));
        return;
      }
      bytes[i - from] = unit;
    }
    this.length = end - from;
  }

  copy(from: TermBytes): void {
    this.reserve(from.length);
    for (let i = 0; i < from.length; i++) this.bytes[i] = from.bytes[i] as number;
    this.length = from.length;
  }

  /** Grows to `length` bytes and keeps the content. */
  reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const larger = new Uint8Array(2 * length);
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

/** Compares by code unit, as strings do. Negative if `a` sorts before `b`. */
export function compareTerms(a: TermBytes, b: TermBytes): number {
  const limit = Math.min(a.length, b.length);
  for (let i = 0; i < limit; i++) {
    const left = a.bytes[i] as number;
    const right = b.bytes[i] as number;
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogate pairs (from byte F0 on) sort before U+E000 and above (EE and EF). */
function rank(byte: number): number {
  return byte === 0xee || byte === 0xef ? byte + 0x100 : byte;
}

/** Bytes in a key, which is below 2^48. */
export const KEY_BYTES = 6;

/** A number monotonic in the term: most comparisons need only this. */
export function termKey({ bytes, length }: TermBytes): number {
  let key = 0;
  for (let i = 0; i < KEY_BYTES; i++) {
    const byte = i < length ? (bytes[i] as number) : 0;
    // No byte of UTF-8 is above F4.
    key = key * 256 + (byte === 0xee || byte === 0xef ? byte + 10 : byte);
  }
  return key;
}

/** The length of the common prefix of `a` and `b` in bytes, ending between characters. */
export function sharedBytes(a: TermBytes, b: TermBytes): number {
  const limit = Math.min(a.length, b.length);
  let at = 0;
  while (at < limit && a.bytes[at] === b.bytes[at]) at++;
  while (at > 0 && (isContinuation(a, at) || isContinuation(b, at))) at--;
  return at;
}

function isContinuation(term: TermBytes, at: number): boolean {
  return at < term.length && ((term.bytes[at] as number) & 0xc0) === 0x80;
}

/** The code units of the first `length` bytes of a term. */
export function unitsOf({ bytes }: TermBytes, length: number): number {
  let units = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number;
    if ((byte & 0xc0) !== 0x80) units += byte < 0xf0 ? 1 : 2;
  }
  return units;
}

/** The bytes of the first `units` code units of a term. */
export function bytesOf({ bytes, length }: TermBytes, units: number): number {
  let left = units;
  let at = 0;
  while (at < length && left > 0) {
    const byte = bytes[at] as number;
    at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    left -= byte < 0xf0 ? 1 : 2;
  }
  return at;
}
