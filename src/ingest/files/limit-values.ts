/** A bound on the JSON values of a line that is tighter than the readers' own. */

import { type Batched, mapBatches } from "../batches.ts";
import { hasMoreValues } from "../json-scan.ts";
import type { Line } from "../lines.ts";

/** Marks lines of JSON that hold more than `limit` values, so that readers count them and go on. */
export function limitValues(lines: AsyncIterable<Line>, limit: number): Batched<Line> {
  return mapBatches(lines, function* (batch) {
    for (const line of batch) {
      const isTooMuch = line.damage !== "too_long" && hasMoreValues(line.text, limit);
      yield isTooMuch ? { ...line, moreValuesThan: limit } : line;
    }
  });
}
