/** A size-tiered merge policy over adjacent segments. */

import type { SegmentInfo } from "../port.ts";

/** Segments of words and of vectors merge alike. */
type Sized = Pick<SegmentInfo, "documents">;

/** A merge of more would hold too many lists. */
const MAX_JOINED = 32;
/** A larger segment is not merged: it would take minutes. */
const MAX_DOCUMENTS = 4 * 1024 * 1024;
/** Small segments are cheap to search and frequent: many are merged at a time. */
const SMALL_FAN = 8;
const SMALL_SIZES = [1_024, 8_192] as const;
/**
 * Every segment costs a search a dictionary look-up per word, so there should be few large ones.
 * Merging costs a tenth of indexing.
 */
const LARGE_FAN = 4;
/**
 * Under heavy writes a merge would soon be repeated, so merge more segments at once. Not as many as
 * possible: a merge of 32 delays writers and leaves half of all segments for later.
 */
const BUSY_FAN = 16;
/**
 * From this many large segments on, heavy writes no longer postpone their merges, which take some
 * at a time: searches during days of writing must stay fast.
 */
const BUSY_LARGE_FAN = 64;
const BUSY_LARGE_JOINED = 16;

/**
 * Adjacent segments to merge: at least `SMALL_FAN` small ones of one level or below, or at least
 * `LARGE_FAN` large ones of one level, with those between. So each message is rewritten once per
 * level, and there are few levels. Empty: none.
 */
export function segmentsToMerge<Info extends Sized>(segments: readonly Info[]): readonly Info[] {
  return adjacent(segments, SMALL_FAN, LARGE_FAN);
}

/**
 * The policy during heavy writes: fewer merges of more segments. Large segments wait unless there
 * are very many: merging them takes memory per message beside the writer's.
 */
export function segmentsToMergeWhileBusy(segments: readonly SegmentInfo[]): readonly SegmentInfo[] {
  return adjacent(segments, BUSY_FAN, BUSY_LARGE_FAN, BUSY_LARGE_JOINED);
}

/** The segments of a full merge: as many as fit into one. Empty: none. */
export function segmentsOfFullMerge(segments: readonly SegmentInfo[]): readonly SegmentInfo[] {
  const due = segmentsToMerge(segments);
  if (due.length > 0) return due;
  let group: SegmentInfo[] = [];
  let documents = 0;
  for (const segment of segments) {
    if (documents + segment.documents > MAX_DOCUMENTS || group.length === MAX_JOINED) {
      if (group.length > 1) break;
      group = [];
      documents = 0;
    }
    group.push(segment);
    documents += segment.documents;
  }
  return group.length > 1 ? group : [];
}

function adjacent<Info extends Sized>(
  segments: readonly Info[],
  smallFan: number,
  largeFan: number,
  largeJoined: number = MAX_JOINED,
): readonly Info[] {
  const highest = Math.max(0, ...segments.map(level));
  for (let limit = 0; limit <= highest; limit++) {
    const isSmall = limit < SMALL_SIZES.length;
    const fan = isSmall ? smallFan : largeFan;
    // A large segment must not be rewritten for a few small ones.
    const counts = (info: Info) => isSmall || level(info) === limit;
    for (const run of runs(segments, limit)) {
      if (run.filter(counts).length >= fan) return run.slice(0, isSmall ? MAX_JOINED : largeJoined);
    }
  }
  return [];
}

function level({ documents }: Sized): number {
  const small = SMALL_SIZES.findIndex((size) => documents <= size);
  if (small >= 0) return small;
  let result = SMALL_SIZES.length;
  for (let size = LARGE_FAN * SMALL_SIZES[1]; documents > size; size *= LARGE_FAN) result++;
  return result;
}

/** The longest runs of adjacent segments of this level or below, in order. */
function runs<Info extends Sized>(segments: readonly Info[], limit: number): Info[][] {
  const found: Info[][] = [[]];
  for (const segment of segments) {
    if (level(segment) > limit || segment.documents > MAX_DOCUMENTS) found.push([]);
    else found.at(-1)?.push(segment);
  }
  return found.toSorted((a, b) => b.length - a.length);
}
