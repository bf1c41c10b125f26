/**
 * Maintains the vector segments like word segments: adds, merges and purges them. The vectors come
 * from outside, because an embedder is called over a network.
 */

import { memoryKey } from "../../model/note.ts";
import { Blobs } from "../index/blobs.ts";
import { IndexCache } from "../index/index-cache.ts";
import { NOTE_FIELDS } from "../index/layout.ts";
import type { Gone } from "../index/liveness.ts";
import { SegmentReader } from "../index/segment-reader.ts";
import { ask, type Manifest, type SansIo } from "../port.ts";
import { mergeVectors } from "../vectors/merge-vectors.ts";
import { quantize } from "../vectors/quantize.ts";
import { isPieceGone } from "../vectors/vector-liveness.ts";
import type {
  FeedRange,
  PieceInfo,
  StartVectorsTask,
  VectorBatch,
  VectorIndex,
  VectorSegmentInfo,
} from "../vectors/vector-port.ts";
import { VectorWriter } from "../vectors/vector-writer.ts";
import { segmentsToMerge } from "./merge-policy.ts";

/**
 * Starts the vectors of another embedder: drops those of the previous one, and marks the stored
 * feed as a gap.
 */
export function startVectors(start: StartVectorsTask["startVectors"]): VectorIndex {
  const gaps = start.through === 0 ? [] : [{ from: 0, to: start.through }];
  return { ...start, gaps, segments: [] };
}

/**
 * Whether a batch continues the current state. Another process may have added the same range first.
 */
export function continues(vectors: VectorIndex | undefined, batch: VectorBatch): boolean {
  if (vectors?.embedder !== batch.embedder) return false;
  const gap = vectors.gaps.find(({ from }) => from === batch.from);
  return gap === undefined ? batch.from === vectors.through : batch.to <= gap.to;
}

/** Writes the segment of a batch, if it has any vector; gives the resulting vectors. */
export function* addVectors(
  vectors: VectorIndex,
  batch: VectorBatch,
  segment: number,
): SansIo<VectorIndex> {
  const { from, to } = batch;
  const gaps = vectors.gaps.flatMap((gap) => {
    if (gap.from !== from) return [gap];
    return gap.to === to ? [] : [{ from: to, to: gap.to }];
  });
  const after = { ...vectors, gaps, through: Math.max(vectors.through, to) };
  const { gone, head } = yield* goneSince(batch.builtAt);
  const isLive = (piece: PieceInfo) => !isPieceGone(gone, piece);
  const order = orderOf(batch.pieces).filter((at) => isLive(batch.pieces[at] as PieceInfo));
  if (order.length === 0) return after;
  const { dimensions } = vectors;
  const writer = new VectorWriter(segment, dimensions);
  for (const at of order) {
    const values = batch.values.subarray(at * dimensions, (at + 1) * dimensions);
    yield* writer.add(batch.pieces[at] as PieceInfo, quantize(values));
  }
  const written = yield* writer.finish();
  const info: VectorSegmentInfo = { segment, from, to, builtAt: head, ...written };
  const segments = [...vectors.segments, info].sort((a, b) => a.from - b.from);
  return { ...after, segments };
}

/** Deletions and erasures since a batch was read, which the manifest may have dropped. */
function* goneSince(builtAt: number): SansIo<{ readonly gone: Gone; readonly head: number }> {
  const sessions = new Set<number>();
  const erased: Gone["erased"][number][] = [];
  let at = builtAt;
  for (;;) {
    const slice = yield* ask<"feed">({ need: "feed", after: at, limit: SLICE, whole: [] });
    for (const { session } of slice.deleted) sessions.add(session);
    erased.push(...slice.erased);
    if (slice.through <= at) break;
    at = slice.through;
  }
  return { gone: { sessions, erased }, head: at };
}

/** Messages by session and sequence, then notes; of a repeated note the last one. */
function orderOf(pieces: readonly PieceInfo[]): number[] {
  const lastOf = new Map(pieces.map(({ role, key }, i) => [`${role} ${key}`, i]));
  const isLast = ({ role, key }: PieceInfo, i: number) =>
    key === null || lastOf.get(`${role} ${key}`) === i;
  return pieces
    .map((_, i) => i)
    .filter((i) => isLast(pieces[i] as PieceInfo, i))
    .sort((i, j) => {
      const [a, b] = [pieces[i] as PieceInfo, pieces[j] as PieceInfo];
      if ((a.key === null) !== (b.key === null)) return a.key === null ? -1 : 1;
      if (a.key !== null && b.key !== null) return a.role - b.role || (a.key < b.key ? -1 : 1);
      return a.session - b.session || a.sequence - b.sequence || i - j;
    });
}

/**
 * The segments to rewrite as one: all for a purge, adjacent small ones, or one built before
 * `overdue`, which holds long deleted text.
 */
export function vectorsToMerge(
  { vectors, through }: Manifest,
  isPurge: boolean,
  overdue: number,
): readonly VectorSegmentInfo[] {
  const segments = vectors?.segments ?? [];
  if (isPurge) {
    const isClean = segments.length === 1 && (segments[0]?.builtAt ?? 0) >= through;
    return isClean ? [] : segments;
  }
  for (const part of withoutGaps(segments, vectors?.gaps ?? [])) {
    const joined = segmentsToMerge(part);
    if (joined.length > 0) return joined;
  }
  return segments.filter(({ builtAt }) => builtAt < overdue).slice(0, 1);
}

/** Segments without gaps between them: filling a gap would break the feed's order. */
function withoutGaps(
  segments: readonly VectorSegmentInfo[],
  gaps: readonly FeedRange[],
): VectorSegmentInfo[][] {
  const partOf = ({ from }: VectorSegmentInfo) => gaps.filter((gap) => gap.from < from).length;
  return [...Map.groupBy(segments, partOf).values()];
}

/** Merges them, applying all deletions and erasures that the manifest knows. */
export function* joinVectors(
  manifest: Manifest,
  joined: readonly VectorSegmentInfo[],
  segment: number,
  isPurge: boolean,
): SansIo<VectorSegmentInfo> {
  const { dead, erased, through } = manifest;
  const { dimensions } = manifest.vectors as VectorIndex;
  const gone = { sessions: new Set(dead.map((each) => each.session)), erased };
  const isCurrent = isPurge ? yield* currentNotes(manifest) : () => true;
  const written = yield* mergeVectors(joined, segment, dimensions, gone, isCurrent);
  return {
    segment,
    from: (joined[0] as VectorSegmentInfo).from,
    to: (joined.at(-1) as VectorSegmentInfo).to,
    builtAt: Math.max(through, Math.min(...joined.map(({ builtAt }) => builtAt))),
    ...written,
  };
}

/** Rows of the feed that are read at a time. */
const SLICE = 1_024;
const CACHE_BYTES = 4 * 1024 * 1024;

/** The keys of live notes that have not changed since they were embedded. */
function* currentNotes(manifest: Manifest): SansIo<(key: string) => boolean> {
  const current = new Set<string>();
  const seen = new Set<string>();
  const blobs = new Blobs(new IndexCache(CACHE_BYTES));
  try {
    for (const { segment } of manifest.segments.toReversed()) {
      const fields = yield* blobs.complete(() => {
        const reader = SegmentReader.open(segment, blobs);
        return NOTE_FIELDS.map((field) => ({
          keys: reader?.noteKeys(field),
          lengths: reader?.lengths(field),
        }));
      });
      for (const { keys = [], lengths } of fields) {
        for (const [i, key] of keys.entries()) {
          if (!seen.has(key) && (lengths?.[i] ?? 0) > 0) current.add(key);
          seen.add(key);
        }
      }
    }
  } finally {
    blobs.close();
  }
  for (let at = manifest.vectors?.through ?? 0; ; ) {
    const slice = yield* ask<"feed">({ need: "feed", after: at, limit: SLICE, whole: [] });
    for (const { agent, name } of slice.memories) current.delete(memoryKey(agent, name));
    for (const { id } of slice.facts) current.delete(id);
    if (slice.through <= at) break;
    at = slice.through;
  }
  return (key) => current.has(key);
}

/** The vectors without unreadable segments, whose ranges become gaps. */
export function withoutLost(
  vectors: VectorIndex | undefined,
  unreadable: ReadonlySet<number>,
): VectorIndex | undefined {
  const lost = vectors?.segments.filter(({ segment }) => unreadable.has(segment)) ?? [];
  if (vectors === undefined || lost.length === 0) return undefined;
  const segments = vectors.segments.filter((info) => !lost.includes(info));
  return { ...vectors, segments, gaps: union([...vectors.gaps, ...lost]) };
}

function union(ranges: readonly FeedRange[]): FeedRange[] {
  const joined: FeedRange[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to) {
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    } else {
      joined.push({ from, to });
    }
  }
  return joined;
}
