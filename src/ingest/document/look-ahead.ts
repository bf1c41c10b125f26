/**
 * The beginning of what may be one JSON document or lines of JSON, to tell which it is.
 *
 * A document is often a single line, and looking at that would be to read it whole. A file can be read
 * again from its beginning, so only so much of it is looked at as would be parsed whole anyway.
 */

import { type Batched, batched, splitAhead } from "../batches.ts";
import { type Line, splitLines } from "../lines.ts";
import type { SourceInput } from "../source.ts";

/** Nearly all documents are shorter, and parsed in one go faster than piece by piece. */
export const WHOLE_BYTES: number = 1024 * 1024;

export interface Ahead {
  readonly lines: readonly Line[];
  /** Whether the first megabyte of a longer file did not decide. */
  readonly isCut: boolean;
  /** To be read instead of the input that was looked at. */
  readonly input: SourceInput;
}

/**
 * The first lines, up to the one that is enough, of what may be a document or lines. Of a file a
 * megabyte is looked at, and the last line may be there in part: a document is often a single one.
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

/** Reads no further than it takes to tell. */
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
