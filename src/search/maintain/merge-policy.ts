/** Which segments are worth joining. */

import type { SegmentInfo } from "../port.ts";

/** Segments of about the same size that are joined into one. */
const FAN = 16;
/** More at a time would hold too many lists. */
const MAX_JOINED = 32;
const SMALLEST = 1_024;

/**
 * Adjacent segments that should become one: at least `FAN` of one level or below. So each message is
 * written again once a level, and there are few levels. Empty: none.
 */
export function segmentsToMerge(segments: readonly SegmentInfo[]): readonly SegmentInfo[] {
  const highest = Math.max(0, ...segments.map(level));
  for (let limit = 0; limit <= highest; limit++) {
    const run = longestRun(segments, limit);
    if (run.length >= FAN) return run.slice(0, MAX_JOINED);
  }
  return [];
}

function level({ documents }: SegmentInfo): number {
  let size = SMALLEST;
  let result = 0;
  while (documents > size) {
    size *= FAN;
    result++;
  }
  return result;
}

function longestRun(segments: readonly SegmentInfo[], limit: number): readonly SegmentInfo[] {
  let longest: SegmentInfo[] = [];
  let run: SegmentInfo[] = [];
  for (const segment of segments) {
    if (level(segment) > limit) run = [];
    else run.push(segment);
    if (run.length > longest.length) longest = [...run];
  }
  return longest;
}
