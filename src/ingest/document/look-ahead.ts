/**
 * Looks ahead to tell a JSON document from JSON lines.
 *
 * A document is often a single line, which would have to be read whole. A file can be read again,
 * so the look-ahead is limited to the size that is parsed whole anyway.
 */

import { type Batched, batched, splitAhead } from "../batches.ts";
import { type Line, splitLines } from "../lines.ts";
import type { SourceInput } from "../source.ts";

/** Nearly all documents are shorter, and faster to parse at once than in pieces. */
export const WHOLE_BYTES: number = 1024 * 1024;

export interface Ahead {
  readonly lines: readonly Line[];
  /** Whether the first megabyte of a longer file did not decide. */
  readonly isCut: boolean;
  /** To be read instead of the original input. */
  readonly input: SourceInput;
}

/**
 * The first lines, up to a sufficient one. Of a file one megabyte is read, and the last line may be
 * partial: a document is often a single one.
 */
export async function lookAhead(
  input: SourceInput,
  isEnough: (read: readonly Line[]) => boolean,
): Promise<Ahead> {
  const { bytes, isRepeatable = false } = input;
  if (bytes === undefined || !isRepeatable) {
    const { ahead, rest } = await splitAhead(input.lines, isEnough);
    return { lines: ahead, isCut: false, input: { ...input, lines: chain(ahead, rest) } };
  }
  const lines: Line[] = [];
  for await (const line of splitLines(beginningOf(bytes, WHOLE_BYTES))) {
    lines.push(line);
    if (isEnough(lines)) return { lines, isCut: false, input };
  }
  return { lines, isCut: await isLonger(bytes, WHOLE_BYTES), input };
}

function chain(ahead: readonly Line[], rest: AsyncIterable<Iterable<Line>>): Batched<Line> {
  async function* all(): AsyncGenerator<Iterable<Line>> {
    yield ahead;
    yield* rest;
  }
  return batched(all());
}

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads only as far as needed. */
export async function isLonger(bytes: Bytes, length: number): Promise<boolean> {
  let left = length;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) return true;
  }
  return false;
}

async function* beginningOf(bytes: Bytes, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
