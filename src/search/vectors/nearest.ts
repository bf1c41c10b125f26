/**
 * Nearest-neighbour scan in two phases: binary codes select candidates, int8 values rescore them.
 */

import { lowerBound } from "../index/lists/term-list.ts";
import type { SansIo } from "../port.ts";
import { Candidates } from "./candidates.ts";
import type { VectorMemory } from "./kernel.ts";
import { BLOCK, codeBytes, cosine, groupsOf, RESCORED, toCodeQuery } from "./quantize.ts";
import { readValues, type WantedValues } from "./read-values.ts";
import {
  blocksOf,
  type ResidentSegment,
  type ResidentSlab,
  type VectorCache,
} from "./vector-cache.ts";
import type { VectorColumns } from "./vector-columns.ts";
import { SLAB } from "./vector-layout.ts";

export interface NearestQuery {
  /** The query's vector, of length 1. */
  readonly vector: Float32Array;
  /** Whether a vector may be a result. Called only for estimates above the threshold. */
  readonly accepts: (columns: VectorColumns, i: number) => boolean;
}

/** A found vector. */
export interface Near extends WantedValues {
  readonly session: number;
  readonly sequence: number;
  /** The last message of its piece. */
  readonly last: number;
  readonly role: number;
  /** The key of a note; null for messages. */
  readonly key: string | null;
  /** The cosine with the query. */
  readonly similarity: number;
}

/** The `RESCORED` nearest vectors of all, nearest first. */
export function* findNearest(
  query: NearestQuery,
  segments: readonly ResidentSegment[],
  { memory }: VectorCache,
): SansIo<Near[]> {
  const code = toCodeQuery(query.vector);
  const groups = groupsOf(query.vector.length);
  const slabs = slabsOf(segments);
  const candidates = new Candidates(RESCORED);
  for (const [at, { slab }] of slabs.entries()) {
    const { columns } = slab;
    const estimates = memory.scan(code, {
      codes: slab.at,
      factors: slab.at + slab.codes,
      blocks: blocksOf(slab),
      groups,
    });
    for (let i = -1; ; ) {
      i = nextAbove(estimates, candidates.threshold, i + 1, columns.count);
      if (i === columns.count) break;
      if (query.accepts(columns, i)) candidates.add(estimates[i] as number, at * SLAB + i);
    }
  }
  return yield* rankByValues(query, slabs, candidates.places(), memory);
}

/** The `count` nearest vectors of each session, at any distance; nearest first. */
export function* findNearestOf(
  sessions: readonly number[],
  count: number,
  query: NearestQuery,
  segments: readonly ResidentSegment[],
  { memory }: VectorCache,
): SansIo<Near[]> {
  const code = toCodeQuery(query.vector);
  const groups = groupsOf(query.vector.length);
  const blockBytes = codeBytes(BLOCK, query.vector.length);
  const slabs = slabsOf(segments);
  const wanted = Uint32Array.from(sessions).sort();
  const bySession = new Map<number, Candidates>();
  for (const [at, { slab, messages }] of slabs.entries()) {
    if (messages <= 0) continue;
    const { columns } = slab;
    const last = columns.sessions[messages - 1] as number;
    let next = lowerBound(wanted, columns.sessions[0] as number, 0, wanted.length);
    for (; next < wanted.length && (wanted[next] as number) <= last; next++) {
      const session = wanted[next] as number;
      const from = lowerBound(columns.sessions, session, 0, messages);
      const to = lowerBound(columns.sessions, session + 1, from, messages);
      if (from === to) continue;
      const block = Math.floor(from / BLOCK);
      const estimates = memory.scan(code, {
        codes: slab.at + block * blockBytes,
        factors: slab.at + slab.codes + 4 * BLOCK * block,
        blocks: Math.ceil(to / BLOCK) - block,
        groups,
      });
      const best = bySession.get(session) ?? new Candidates(count);
      bySession.set(session, best);
      for (let i = from; i < to; i++) {
        const estimate = estimates[i - block * BLOCK] as number;
        if (estimate > best.threshold && query.accepts(columns, i)) {
          best.add(estimate, at * SLAB + i);
        }
      }
    }
  }
  const places = [...bySession.values()].flatMap((best) => [...best.places()]);
  return yield* rankByValues(query, slabs, Uint32Array.from(places), memory);
}

/**
 * A slab and its location. The place of a vector is the number of its slab times `SLAB`, plus its
 * index in the slab.
 */
interface PlacedSlab {
  readonly segment: ResidentSegment;
  /** Its number in the segment. */
  readonly number: number;
  readonly slab: ResidentSlab;
  /** The number of vectors of messages. Those of notes follow, and have no session. */
  readonly messages: number;
}

function slabsOf(segments: readonly ResidentSegment[]): PlacedSlab[] {
  return segments.flatMap((segment) =>
    segment.slabs.map((slab, number) => ({
      segment,
      number,
      slab,
      messages: Math.min(slab.columns.count, segment.count - segment.notes - number * SLAB),
    })),
  );
}

/** Rescores the vectors at `places` by their int8 values, which are read in order. */
function* rankByValues(
  { vector: query }: NearestQuery,
  slabs: readonly PlacedSlab[],
  places: Uint32Array,
  memory: VectorMemory,
): SansIo<Near[]> {
  const wanted = Array.from(places.sort(), (place) => {
    const { segment, number, slab } = slabs[Math.floor(place / SLAB)] as PlacedSlab;
    const i = place % SLAB;
    const factor = memory.floats(slab.at + slab.codes, slab.columns.count)[i] as number;
    return { segment: segment.segment, vector: number * SLAB + i, of: segment, slab, i, factor };
  });
  const near: Near[] = [];
  yield* readValues(wanted, query.length, ({ segment, vector, of, slab, i, factor }, values) => {
    let sum = 0;
    for (let k = 0; k < values.length; k++) sum += Math.abs(values[k] as number);
    const similarity = cosine(query, values, 1 / (factor * sum));
    const { sessions, sequences, spans, roles } = slab.columns;
    const [session, sequence] = [sessions[i] as number, sequences[i] as number];
    const last = sequence + (spans[i] as number);
    const note = vector - (of.count - of.notes);
    const key = note < 0 ? null : (of.keys[note] ?? null);
    const role = roles[i] as number;
    near.push({ segment, vector, session, sequence, last, role, key, similarity });
  });
  return near.sort(
    (a, b) => b.similarity - a.similarity || a.session - b.session || a.sequence - b.sequence,
  );
}

/** The first index from `from` on with an estimate above `threshold`; `end` if there is none. */
function nextAbove(estimates: Float32Array, threshold: number, from: number, end: number): number {
  let i = from;
  while (i < end && (estimates[i] as number) <= threshold) i++;
  return i;
}
