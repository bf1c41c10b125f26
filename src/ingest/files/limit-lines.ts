/** The last line of a growing file, and lines that are too long. */

import type { Oversize } from "../../model/inputs/choices.ts";
import { type Batched, batched, batchesOf, mapBatches } from "../batches.ts";
import type { Line } from "../lines.ts";
import { cutLine, MAX_LINE_LENGTH } from "../long/long-line.ts";
import type { ProblemLog } from "../problems.ts";

// The last line of a growing file.
//
// A partial line is held back: passed on, it would be a problem now and an entry later. A complete
// line without a line break is passed on, because many files end so.

/** The offset to resume from: after the last terminated line. */
export interface ReadThrough {
  offset: number;
  lines: number;
  /** Whether an unterminated line was passed on: a resumed reading sees it twice. */
  isOpen: boolean;
}

interface LastLine {
  /** The end of the file, in bytes. */
  readonly end: number;
  /** No hold-back: an incomplete line can be detected only in JSON lines. */
  readonly isText: boolean;
}

/** Passes lines on, and keeps `through` up to date. */
export function withholdPartialLine(
  lines: AsyncIterable<Line>,
  { end, isText }: LastLine,
  through: ReadThrough,
  problems: ProblemLog,
): Batched<Line> {
  let held: Line | undefined;
  function* pass(batch: Iterable<Line>): Generator<Line> {
    for (const line of batch) {
      const before = held;
      held = line;
      if (before === undefined) continue;
      through.offset = line.offset;
      through.lines = before.number;
      yield before;
    }
  }
  function last(): Line[] {
    if (held === undefined) return [];
    if (held.ended) {
      through.lines = held.number;
      through.offset = end;
    } else if (!isText && isTorn(held.text)) {
      const message = "the last line is incomplete; it is read once it is complete";
      problems.add("torn_line", message, held.number);
      return [];
    } else through.isOpen = true;
    return [held];
  }
  async function* batches(): AsyncGenerator<Iterable<Line>> {
    for await (const batch of batchesOf(lines)) yield pass(batch);
    yield last();
  }
  return batched(batches());
}

function isTorn(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

// Lines over 1 MB.
//
// Skipping such a line would lose a turn and break the chain of its children, so by default only
// its long values are cut.

export { OVERSIZE, type Oversize } from "../../model/inputs/choices.ts";

/** Passes lines on. Overlong ones are cut or skipped, and counted. */
export function limitLines(
  lines: AsyncIterable<Line>,
  oversize: Oversize,
  problems: ProblemLog,
): Batched<Line> {
  return mapBatches(lines, function* (batch) {
    for (const line of batch) {
      const isShort = line.text.length <= MAX_LINE_LENGTH && line.isCut !== true;
      if (!isShort && oversize === "skip") {
        problems.add("line_too_long", "the line is longer than 1 MB and was left out", line.number);
      } else if (isShort || line.damage === "too_long") {
        yield line;
      } else {
        problems.add("line_cut", "the line is longer than 1 MB; long values were cut", line.number);
        yield line.isCut ? line : { ...line, text: cutLine(line.text) };
      }
    }
  });
}
