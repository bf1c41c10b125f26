/** Splits the bytes of a file into lines, one in memory at a time. */

import { isAscii } from "node:buffer";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { asBuffer } from "../transcript/hash.ts";
import { type Batched, batched, type Slots } from "./batches.ts";
import { countField } from "./fields.ts";

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** The line's start, in bytes. */
  readonly offset: number;
  /** Without its line break; empty if it was too long. */
  readonly text: string;
  /** Whether a line break followed; false for the last line of a growing file. */
  readonly ended: boolean;
  readonly damage?: "too_long" | "not_utf8";
  /** It holds more JSON values than this, and must not be parsed. */
  readonly moreValuesThan?: number;
  /** The line was too long and is given shortened. */
  readonly isCut?: boolean;
}

/** The handler of a line that is longer than most files. */
export interface LongLine {
  /** The next bytes of the line, valid during the call. */
  add(bytes: Buffer): void;
  end(): Pick<Line, "text" | "damage">;
}

export interface LineOptions {
  /** A longer line is given without text. */
  readonly maxBytes?: number;
  /** The start of the bytes within the file, and the number of lines before it. */
  readonly start?: { readonly lines: number; readonly offset: number };
  /**
   * A semaphore shared by files that are read concurrently: compressed files of a few kilobytes may
   * have lines of many megabytes. Not for uploads: a slow sender could hold a slot for long.
   */
  readonly longLines?: Slots;
  /** Called for each line of more than 4 MB; its result replaces the line, whatever its length. */
  readonly whenLong?: () => LongLine;
}

/** The memory limit of a line. */
export const MAX_LINE_BYTES: number = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Bytes for any text of up to a million characters. */
export const CUT_LINE_BYTES: number = 4 * 1024 * 1024;

/** Longer lines are assembled under a slot, if there are slots. */
const LONG_LINE_BYTES = 1024 * 1024;

/** A final line break does not begin another line. A batch has the lines that end in one chunk. */
export function splitLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: LineOptions = {},
): Batched<Line> {
  const splitter = new LineSplitter(options);
  async function* batches(): AsyncGenerator<Iterable<Line>> {
    let leave: (() => void) | undefined;
    try {
      for await (const chunk of chunks) {
        if (splitter.pending + chunk.length > LONG_LINE_BYTES && !chunk.includes(NEWLINE)) {
          // No yield while the slot is held: its holder waits only for its own file.
          leave ??= await options.longLines?.enter();
          splitter.collect(chunk);
          continue;
        }
        leave?.();
        leave = undefined;
        yield splitter.lines(chunk);
      }
    } finally {
      leave?.();
    }
    yield splitter.end();
  }
  return batched(batches());
}

class LineSplitter {
  readonly #maxBytes: number;
  #number: number;
  #offset: number;
  /** Bytes of the line in earlier chunks. */
  #length = 0;
  /** A reused buffer for the current line; empty for a line that is too long. */
  #room: Buffer = Buffer.alloc(0);
  #kept = 0;
  readonly #whenLong: LineOptions["whenLong"];
  #long: LongLine | undefined;

  constructor(options: LineOptions) {
    const { maxBytes = MAX_LINE_BYTES, start = { lines: 0, offset: 0 }, whenLong } = options;
    this.#maxBytes = maxBytes;
    this.#whenLong = whenLong;
    this.#number = start.lines;
    this.#offset = start.offset;
  }

  /** The bytes of a line that has not ended. */
  get pending(): number {
    return this.#length;
  }

  /** Takes a chunk without a line break. */
  collect(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#whenLong !== undefined && this.#length > CUT_LINE_BYTES) {
      this.#addLong(this.#whenLong, asBuffer(chunk));
      return;
    }
    if (this.#length > this.#maxBytes) this.#kept = 0;
    else this.#keep(asBuffer(chunk));
  }

  #addLong(whenLong: () => LongLine, chunk: Buffer): void {
    this.#long ??= whenLong();
    this.#long.add(this.#room.subarray(0, this.#kept));
    this.#kept = 0;
    this.#long.add(chunk);
  }

  /** Copy: the file reader reuses its buffer. */
  #keep(bytes: Buffer): void {
    const length = this.#kept + bytes.length;
    if (length > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#room.length));
      this.#room.copy(larger, 0, 0, this.#kept);
      this.#room = larger;
    }
    bytes.copy(this.#room, this.#kept);
    this.#kept = length;
  }

  *lines(chunk: Uint8Array): Generator<Line> {
    const bytes = asBuffer(chunk);
    const isPlain = isAscii(bytes);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield this.#take(bytes.subarray(start, end), true, isPlain);
      start = end + 1;
    }
    if (start < bytes.length) this.collect(bytes.subarray(start));
  }

  end(): Line[] {
    return this.#length === 0 ? [] : [this.#take(Buffer.alloc(0), false, false)];
  }

  #take(end: Buffer, ended: boolean, isPlain: boolean): Line {
    const size = this.#length + end.length;
    const long = this.#long;
    this.#long = undefined;
    const isWhole = this.#kept === 0;
    if (!isWhole && size <= this.#maxBytes) this.#keep(end);
    const bytes = isWhole ? end : this.#room.subarray(0, this.#kept);
    const number = ++this.#number;
    const offset = this.#offset;
    this.#offset += size + (ended ? 1 : 0);
    this.#kept = 0;
    this.#length = 0;
    if (this.#room.length > 2 * CUT_LINE_BYTES) this.#room = Buffer.alloc(0);
    if (long !== undefined) {
      long.add(end);
      const { text, ...rest } = long.end();
      return { number, offset, ...rest, text: trim(text, number), ended, isCut: true };
    }
    if (size > this.#maxBytes) return { number, offset, text: "", ended, damage: "too_long" };
    return toLine(number, offset, ended, bytes, isPlain && isWhole);
  }
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
  // ASCII chunks need no decoder; check a chunk at a time.
  const { text, ...damage } = isPlain ? { text: bytes.toString("latin1") } : decodeUtf8(bytes);
  return { number, offset, text: trim(text, number), ended, ...damage };
}

/** Replaces and reports invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): Pick<Line, "text" | "damage"> {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { text: lenient.decode(bytes), damage: "not_utf8" };
  }
}

function trim(text: string, number: number): string {
  const begun = number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
  return begun.endsWith("\r") ? begun.slice(0, -1) : begun;
}

/**
 * Tracks which lines of a file were taken, across readings.
 *
 * A last line without a line break may be complete. It is taken at once, and when a resumed reading
 * begins with it again, it has the same number and is skipped. The numbers are the file's, whatever
 * was skipped: they identify records without ids.
 */
export class LineCounter {
  /** The last line that was taken, in this reading or an earlier one. */
  #taken: number;

  constructor(state?: JsonValue) {
    const fields = isPlainObject(state) ? state : {};
    this.#taken = countField(fields, "taken") ?? 0;
  }

  /** Valid after the last line. */
  state(): JsonObject {
    return { taken: this.#taken };
  }

  /** Whether the line is new; marks it as taken. */
  take(line: number): boolean {
    if (line <= this.#taken) return false;
    this.#taken = line;
    return true;
  }
}
