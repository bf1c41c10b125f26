/** From the bytes of a file to its lines, one in memory at a time. */

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
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = from.lines;
  let offset = from.offset;
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  const take = (ended: boolean): Line => {
    const place = { number: ++number, offset, ended };
    offset += length + (ended ? 1 : 0);
    const line: Line =
      length > maxBytes
        ? { ...place, text: "", damage: "too_long" }
        : { ...place, ...decode(Buffer.concat(parts), number === 1) };
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      yield take(true);
    }
    // A copy: whoever reads the file may fill the same memory again.
    if (start < chunk.length) keep(Uint8Array.prototype.slice.call(chunk, start));
  }
  if (length > 0) yield take(false);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function decode(bytes: Uint8Array, isFirst: boolean): Pick<Line, "text" | "damage"> {
  const trim = (text: string) =>
    (isFirst && text.startsWith("\uFEFF") ? text.slice(1) : text).replace(/\r$/, "");
  try {
    return { text: trim(strict.decode(bytes)) };
  } catch {
    return { text: trim(lenient.decode(bytes)), damage: "not_utf8" };
  }
}
