/**
 * Lines over 1 MB.
 *
 * Skipping such a line would lose a turn and break the chain of its children, so by default only
 * its long values are cut.
 */

import type { Oversize } from "../../model/inputs/choices.ts";
import { type Batched, mapBatches } from "../batches.ts";
import type { Line } from "../lines.ts";
import { cutLine, MAX_LINE_LENGTH } from "../long/cut-values.ts";
import type { ProblemLog } from "../problems.ts";

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
