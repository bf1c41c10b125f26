/**
 * Encoding of segments: LEB128 varints, zig-zag for signed values, and little-endian integers of
 * fixed width.
 */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#bytes[this.#length++] = value;
    this.#bytes[this.#length++] = value >>> 8;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#bytes[this.#length++] = value;
    this.#bytes[this.#length++] = value >>> 8;
    this.#bytes[this.#length++] = value >>> 16;
    this.#bytes[this.#length++] = value >>> 24;
  }

  /** A natural number below 2^53 as a varint. */
  varint(value: number): void {
    this.#reserve(8);
    if (value < 0x80) {
      this.#bytes[this.#length++] = value;
      return;
    }
    let rest = value;
    while (rest >= 0x8000_0000) {
      this.#bytes[this.#length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A signed integer in zig-zag coding. */
  signed(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  text(value: string): void {
    this.#reserve(value.length * 3 + 8);
    const room = this.#bytes.subarray(this.#length + 4);
    const { written } = ENCODER.encodeInto(value, room);
    const start = this.#length + 4;
    this.varint(written);
    this.#bytes.copyWithin(this.#length, start, start + written);
    this.#length += written;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Part of `source`. Short parts are copied byte by byte: a view would cost more. */
  copy(source: Uint8Array, from: number, to: number): void {
    if (to - from > 64) {
      this.bytes(source.subarray(from, to));
      return;
    }
    this.#reserve(to - from);
    for (let i = from; i < to; i++) this.#bytes[this.#length++] = source[i] as number;
  }

  array(values: Uint8Array | Uint16Array | Uint32Array): void {
    this.bytes(bytesOf(values));
  }

  align(unit: 2 | 4): void {
    while (this.#length % unit !== 0) this.u8(0);
  }

  /** A view of the bytes since the last take. Valid until the next write. */
  get room(): Uint8Array {
    return this.#bytes;
  }

  /** Reserves `count` bytes; report the written ones with `wrote`. */
  reserve(count: number): Uint8Array {
    this.#reserve(count);
    return this.#bytes;
  }

  /** Marks the first `length` reserved bytes as written. */
  wrote(length: number): void {
    this.#length = length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Takes the bytes since the last take and resets the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** The bytes of a typed array, in machine order, which is little-endian wherever Node runs. */
export function bytesOf(values: Uint8Array | Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Writes a number below 2^31 as a varint, and gives its end. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/** The end of `count` varints that begin at `at`. */
export function skipVarints(bytes: Uint8Array, at: number, count: number): number {
  let end = at;
  for (let left = count; left > 0; end++) if ((bytes[end] ?? 0) < 0x80) left--;
  return end;
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.#bytes.length;
  }

  u8(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.at++] ?? 0;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    return value;
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  skipVarints(count: number): void {
    this.at = skipVarints(this.#bytes, this.at, count);
  }

  text(): string {
    const length = this.varint();
    this.at += length;
    return DECODER.decode(this.#bytes.subarray(this.at - length, this.at));
  }

  slice(length: number): Uint8Array {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
}

/** A copy aligned to four bytes, for typed arrays; the same array if it is aligned. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
}

export function u16View(bytes: Uint8Array, at: number, length: number): Uint16Array {
  return new Uint16Array(bytes.buffer, bytes.byteOffset + at, length);
}

export function u32View(bytes: Uint8Array, at: number, length: number): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + at, length);
}
