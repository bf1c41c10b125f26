/**
 * The last line of a growing file.
 *
 * A partial line is held back: passed on, it would be a problem now and an entry later. A complete
 * line without a line break is passed on, because many files end so.
 */

import { type Batched, batched, batchesOf } from "../batches.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

/** The offset to resume from: after the last terminated line. */
export interface ReadThrough {
  offset: number;
  lines: number;
  /** Whether an unterminated line was passed on: a resumed reading sees it twice. */
  isOpen: boolean;
}

export interface LastLine {
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
