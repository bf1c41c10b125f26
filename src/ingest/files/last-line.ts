/**
 * The last line of a file that is being written.
 *
 * It may be there in part. Then it waits: handed out, it would be a problem now and an entry later. A
 * last line that is whole but lacks its line break is handed out, because many files end so.
 */

import { type Batched, batched, batchesOf } from "../batches.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

/** Where a later reading goes on: behind the last line that ended. */
export interface ReadThrough {
  offset: number;
  lines: number;
  /** Whether a line was handed out that has not ended yet: a reader that goes on sees it twice. */
  isOpen: boolean;
}

export interface LastLine {
  /** Where the file ends, in bytes. */
  readonly end: number;
  /** No hold-back: only in JSON lines can an incomplete line be detected. */
  readonly isText: boolean;
}

/** Passes lines on, and keeps `through` up to date. */
export function holdTornLine(
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
      const message = "the last line is not complete; it waits for its rest";
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
