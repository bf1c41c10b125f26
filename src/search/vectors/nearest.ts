/** The vectors nearest to a query: candidates by their bits, ranked by int8. */

import { lowerBound } from "../index/lists/term-list.ts";
import type { Asking } from "../port.ts";
import { cosine, groupsOf, RESCORED, toCodeQuery } from "./quantize.ts";
import { readValues, type WantedValues } from "./read-values.ts";
import { blocksOf, type ResidentSegment, type VectorCache } from "./vector-cache.ts";
import type { VectorColumns } from "./vector-columns.ts";
import { SLAB } from "./vector-layout.ts";

export interface NearestQuery {
  /** The query's vector, of length 1. */
  readonly vector: Float32Array;
  /** Whether a vector may be found. Asked of those that are near enough, and before they count. */
  readonly accepts: (columns: VectorColumns, i: number) => boolean;
  /** Sessions whose best vector is wanted, however far it is; ascending. */
  readonly sessions: readonly number[];
}

/** One vector that was found. */
export interface Near extends WantedValues {
  readonly session: number;
  readonly sequence: number;
  /** The last message that it stands for. */
  readonly last: number;
  readonly role: number;
  /** The key of a note; null of messages. */
  readonly key: string | null;
  /** The cosine with the query. */
  readonly similarity: number;
}

/** The nearest first: about `RESCORED`, and the best of each of the sessions that were asked for. */
export function* findNearest(
  query: NearestQuery,
  segments: readonly ResidentSegment[],
  cache: VectorCache,
): Asking<Near[]> {
  const found = scan(query, segments, cache);
  const near: Near[] = [];
  yield* readValues(found, query.vector.length, (each, values) => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += Math.abs(values[i] as number);
    const similarity = cosine(query.vector, values, 1 / (each.factor * sum));
    const { columns, i, factor: _, estimate: __, ...place } = each;
    const sequence = columns.sequences[i] as number;
    near.push({
      ...place,
      session: columns.sessions[i] as number,
      sequence,
      last: sequence + (columns.spans[i] as number),
      role: columns.roles[i] as number,
      similarity,
    });
  });
  return near.sort(
    (a, b) => b.similarity - a.similarity || a.session - b.session || a.sequence - b.sequence,
  );
}

interface Candidate extends WantedValues {
  readonly columns: VectorColumns;
  readonly i: number;
  readonly key: string | null;
  readonly estimate: number;
  readonly factor: number;
}

function scan(
  { vector, accepts, sessions }: NearestQuery,
  segments: readonly ResidentSegment[],
  cache: VectorCache,
): Candidate[] {
  const code = toCodeQuery(vector);
  const { memory } = cache;
  const groups = groupsOf(vector.length);
  const bestOf = new Map<number, Candidate>();
  let best: Candidate[] = [];
  let threshold = Number.NEGATIVE_INFINITY;
  for (const { segment, slabs, keys, count, notes } of segments) {
    for (const [number, slab] of slabs.entries()) {
      const { columns, at, codes } = slab;
      const blocks = blocksOf(slab);
      const estimates = memory.scan(code, { codes: at, factors: at + codes, blocks, groups });
      const factors = memory.floats(at + codes, columns.count);
      const candidate = (i: number): Candidate => {
        const place = number * SLAB + i;
        const note = place - (count - notes);
        const key = note < 0 ? null : (keys[note] ?? null);
        const [estimate, factor] = [estimates[i] as number, factors[i] as number];
        return { segment, vector: place, columns, i, key, estimate, factor };
      };
      for (let i = -1; ; ) {
        i = nextAbove(estimates, threshold, i + 1, columns.count);
        if (i === columns.count) break;
        if (!accepts(columns, i)) continue;
        best.push(candidate(i));
        if (best.length < 2 * RESCORED) continue;
        best = nearestOf(best);
        threshold = best.at(-1)?.estimate ?? threshold;
      }
      // Notes come last, and are of no session that is asked for.
      const messages = Math.min(columns.count, count - notes - number * SLAB);
      for (const session of sessions) {
        const known = bestOf.get(session);
        let [top, most] = [-1, known?.estimate ?? Number.NEGATIVE_INFINITY];
        let i = lowerBound(columns.sessions, session, 0, Math.max(0, messages));
        for (; i < messages && columns.sessions[i] === session; i++) {
          if ((estimates[i] as number) <= most || !accepts(columns, i)) continue;
          most = estimates[i] as number;
          top = i;
        }
        if (top >= 0) bestOf.set(session, candidate(top));
      }
    }
  }
  const nearest = nearestOf(best);
  const there = new Set(nearest.map(({ segment, vector: place }) => `${segment}/${place}`));
  const others = [...bestOf.values()].filter(
    ({ segment, vector: place }) => !there.has(`${segment}/${place}`),
  );
  return [...nearest, ...others];
}

/** The first index from `from` on whose estimate is above `threshold`; `end` if there is none. */
function nextAbove(estimates: Float32Array, threshold: number, from: number, end: number): number {
  let i = from;
  while (i < end && (estimates[i] as number) <= threshold) i++;
  return i;
}

function nearestOf(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => b.estimate - a.estimate).slice(0, RESCORED);
}
