/** From the bytes of a file to its lines, one in memory at a time. */

import { isAscii } from "node:buffer";

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** Where the line begins, in bytes. */
  readonly offset: number;
  /** Without its line break; empty if it was too long. */
  readonly text: string;
  /** Whether a line break followed. The last line of a file that is being written has none. */
  readonly ended: boolean;
  readonly damage?: "too_long" | "not_utf8";
}

export interface LineOptions {
  /** A longer line is left out: it is given without text. */
  readonly maxBytes?: number;
  /** Where the bytes begin, if not at the start of the file: as many lines stand before. */
  readonly start?: { readonly lines: number; readonly offset: number };
}

/** No line takes more memory than this, whatever is in the file. */
export const MAX_LINE_BYTES: number = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** A final line break does not begin another line. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: LineOptions = {},
): AsyncGenerator<Line> {
  const { maxBytes = MAX_LINE_BYTES, start: from = { lines: 0, offset: 0 } } = options;
  /** What earlier chunks have of the line, and how many bytes it is; none is kept of too long a line. */
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = from.lines;
  let offset = from.offset;
  const take = (end: Buffer, ended: boolean, isPlain: boolean): Line => {
    const size = length + end.length;
    const bytes = parts.length === 0 ? end : Buffer.concat([...parts, end]);
    const line =
      size > maxBytes
        ? ({ number: ++number, offset, text: "", ended, damage: "too_long" } as const)
        : toLine(++number, offset, ended, bytes, isPlain && parts.length === 0);
    offset += size + (ended ? 1 : 0);
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const isPlain = isAscii(bytes);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield take(bytes.subarray(start, end), true, isPlain);
      start = end + 1;
    }
    if (start === bytes.length) continue;
    length += bytes.length - start;
    // A copy: whoever reads the file may fill the same memory again.
    if (length <= maxBytes) parts.push(Uint8Array.prototype.slice.call(bytes, start));
    else parts = [];
  }
  if (length > 0) yield take(Buffer.alloc(0), false, false);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function toLine(
  number: number,
  offset: number,
  ended: boolean,
  bytes: Buffer,
  isPlain: boolean,
): Line {
  const trim = (text: string) => {
    const begun = number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
    return begun.endsWith("\r") ? begun.slice(0, -1) : begun;
  };
  // What is ASCII needs no decoder, and is looked at for it a chunk at a time.
  if (isPlain) return { number, offset, text: trim(bytes.toString("latin1")), ended };
  try {
    return { number, offset, text: trim(strict.decode(bytes)), ended };
  } catch {
    return { number, offset, text: trim(lenient.decode(bytes)), ended, damage: "not_utf8" };
  }
}
