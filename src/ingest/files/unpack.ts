/**
 * Decodes the bytes of a file to UTF-8: decompresses gzip and zstd, converts UTF-16. A few
 * kilobytes can expand to terabytes, so the limit is on the output.
 */

import { pipeline, Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import type { ProblemLog } from "../problems.ts";

/** Limit of an unpacked transcript: ten times the largest known ones. */
export const MAX_UNPACKED_BYTES: number = 4 * 1024 * 1024 * 1024;

export type Packing = "gzip" | "zstd";

/** By the first bytes, whatever the file's name. */
export function packingOf(head: Uint8Array): Packing | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  const isZstd = head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd;
  return isZstd ? "zstd" : undefined;
}

/** Detects compression and encoding by the first bytes. A chunk is valid until the next. */
export async function* toPlain(
  bytes: AsyncIterable<Uint8Array>,
  problems: ProblemLog,
  maxBytes?: number,
): AsyncGenerator<Uint8Array> {
  const raw = await beginningOf(bytes);
  const packing = packingOf(raw.head);
  if (packing === undefined) {
    const encoding = encodingOf(raw.head);
    yield* encoding === undefined ? raw.all : toUtf8(raw.all, encoding);
    return;
  }
  const unpacked = await beginningOf(unpack(raw.all, packing, problems, maxBytes));
  const encoding = encodingOf(unpacked.head);
  yield* encoding === undefined ? unpacked.all : toUtf8(unpacked.all, encoding);
}

/** Bytes needed to detect the compression. */
const MAGIC_BYTES = 4;

/** A pipe may give single bytes. `all` repeats these bytes, and continues. */
async function beginningOf(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly all: AsyncGenerator<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < MAGIC_BYTES) {
    const next = await source.next();
    if (next.done) break;
    // Copy if more follows: the file reader reuses its buffer.
    const isEnough = chunks.length === 0 && next.value.length >= MAGIC_BYTES;
    chunks.push(isEnough ? next.value : Uint8Array.from(next.value));
    length += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  const [first = new Uint8Array()] = chunks;
  return { head: chunks.length <= 1 ? first : Buffer.concat(chunks), all: all() };
}

/** Decompresses. Damage, and more than `maxBytes`, end it with a problem. */
export async function* unpack(
  bytes: AsyncIterable<Uint8Array>,
  packing: Packing,
  problems: ProblemLog,
  maxBytes: number = MAX_UNPACKED_BYTES,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(copies(bytes), { objectMode: false });
  const unpacked = packing === "gzip" ? createGunzip() : createZstdDecompress();
  // Errors are thrown where the decompressed bytes are read.
  pipeline(source, unpacked, () => undefined);
  let length = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) {
        problems.add("unpacks_too_far", `the file unpacks to more than ${maxBytes} bytes`);
        return;
      }
      yield chunk;
    }
  } catch (error) {
    problems.add("unreadable", `the file cannot be unpacked: ${(error as Error).message}`);
  } finally {
    unpacked.destroy();
    source.destroy();
  }
}

export type Encoding = "utf-16le" | "utf-16be";

/** By the byte order mark. */
export function encodingOf(head: Uint8Array): Encoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : undefined;
}

/** Converts to UTF-8. Invalid UTF-16 becomes replacement characters. */
export async function* toUtf8(
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  for await (const chunk of bytes) yield encoder.encode(decoder.decode(chunk, { stream: true }));
  yield encoder.encode(decoder.decode());
}

/** Copy: the file reader reuses its buffer, and a stream keeps references. */
async function* copies(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) yield Uint8Array.from(chunk);
}
