/**
 * Index maintenance (LSM): flushes the tail, merges segments by size tiers, and rebuilds segments
 * that are damaged, outdated or hold deleted text.
 *
 * Each step ends with one compare-and-swap of the manifest. A step that dies leaves unreferenced
 * blobs; a step that loses the race has no effect.
 */

import { type IndexingOptions, indexVersion, isCurrent } from "../index/add-feed.ts";
import { UnreadableSegment } from "../index/blobs.ts";
import { IndexCache } from "../index/index-cache.ts";
import { mergeSegments } from "../index/merge-segments.ts";
import {
  ask,
  type MaintenanceReport,
  type MaintenanceTask,
  type Manifest,
  namedSegments,
  type SansIo,
  type SegmentInfo,
} from "../port.ts";
import type {
  AddVectorsTask,
  StartVectorsTask,
  VectorIndex,
  VectorSegmentInfo,
} from "../vectors/vector-port.ts";
import { buildRange, releaseBuildMemory } from "./build-range.ts";
import {
  addVectors,
  continues,
  joinVectors,
  startVectors,
  vectorsToMerge,
  withoutLost,
} from "./maintain-vectors.ts";
import { segmentsOfFullMerge, segmentsToMerge, segmentsToMergeWhileBusy } from "./merge-policy.ts";

export interface MaintenanceOptions {
  readonly indexing: IndexingOptions;
  /** A number for a new segment. */
  readonly newSegment: () => number;
  /** The tail is flushed when it has this many changes. */
  readonly flushAt: number;
  /** Segments that a search could not read. */
  readonly unreadable: ReadonlySet<number>;
  readonly now: number;
}

/**
 * Deleted text leaves the segments after a day, or when it reaches this share of all sessions or
 * messages.
 */
const DEAD_KEPT_MS = 24 * 60 * 60 * 1000;
const DEAD_PART = 0.05;

/** Feed rows per segment. */
const RANGE = 8_192;
/** During a merge the tail is flushed at this many times `flushAt`. */
const DUE_FACTOR = 4;
/** Bytes that a merge caches of the segments it reads. */
const MERGE_CACHE_BYTES = 4 * 1024 * 1024;
/**
 * From this many messages, a merge drops the vocabularies: it needs as much memory, takes seconds,
 * and rebuilding the vocabularies is cheap beside it.
 */
const LARGE_MERGE = 768 * 1024;

/** One step. `more` tells whether the task needs further ones. */
export function* maintainIndex(
  task: MaintenanceTask,
  options: MaintenanceOptions,
): SansIo<MaintenanceReport> {
  const state = yield* readState();
  const { manifest, head } = state;
  const step = nextStep(task, state, options);
  const report = { through: manifest.through, head, documents: 0 };
  if (step === undefined) return { ...report, busy: false, more: false };
  let documents: number | undefined;
  try {
    documents = yield* step;
  } catch (error) {
    if (!(error instanceof UnreadableSegment) || options.unreadable.has(error.segment)) throw error;
    // This step wrote the segment that no manifest names: another attempt would fail alike.
    if (!namedSegments(manifest).includes(error.segment)) throw error;
    // Damage that no search has met. The segment is rebuilt first, because it cannot be merged.
    const unreadable = new Set([...options.unreadable, error.segment]);
    return yield* maintainIndex(task === "merge" ? "maintain" : task, { ...options, unreadable });
  }
  if (documents === undefined) return { ...report, busy: true, more: true };
  if (typeof task === "object" && !("rebuildThrough" in task)) {
    return { ...report, documents, busy: false, more: false };
  }
  const after = yield* readState();
  const more = nextStep(task, after, options) !== undefined;
  return { through: after.manifest.through, head: after.head, documents, busy: false, more };
}

interface State {
  readonly manifest: Manifest;
  /** The end of the feed. */
  readonly head: number;
  /** Live sessions; 0 if not needed. */
  readonly sessions: number;
}

function* readState(): SansIo<State> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const { head } = yield* ask<"feed">({ need: "feed", after: manifest.through, limit: 0 });
  const hasDead = manifest.dead.length > 0;
  const sessions = hasDead ? yield* ask<"sessionCount">({ need: "sessionCount" }) : 0;
  return { manifest, head, sessions };
}

/** Gives the number of written documents; undefined if another process swapped first. */
type Step = SansIo<number | undefined>;

/** Returns before any work: generators start with their first step. */
function nextStep(
  task: MaintenanceTask,
  state: State,
  options: MaintenanceOptions,
): Step | undefined {
  const { manifest, head } = state;
  if (typeof task === "object" && !("rebuildThrough" in task))
    return takeVectors(task, manifest, options);
  const lag = head - manifest.through;
  if (task !== "merge" && lag > 0 && (task === "flush" || lag >= options.flushAt)) {
    const joined = task === "maintain" ? segmentsToMergeWhileBusy(manifest.segments) : [];
    if (joined.length > 0) return merge(manifest, joined, options);
    return flush(manifest, task === "maintain" ? undefined : head, options);
  }
  if (task === "flush") return undefined;
  const rebuildThrough = typeof task === "object" ? task.rebuildThrough : -1;
  const stale = manifest.segments.find(
    (info) =>
      options.unreadable.has(info.segment) ||
      !isCurrent(info, options.indexing) ||
      (info.namedIn ?? 0) <= rebuildThrough,
  );
  if (task !== "merge" && stale !== undefined) return rebuild(stale, options);
  const vectors = withoutLost(manifest.vectors, options.unreadable);
  if (vectors !== undefined) return swapVectors(manifest, vectors);
  if (task === "purge") {
    const [only, ...others] = manifest.segments;
    const isClean = others.length === 0 && (only === undefined || only.builtAt >= manifest.through);
    return isClean
      ? mergeVectorsIfDue(state, true, options)
      : merge(manifest, manifest.segments, options);
  }
  const choose = task === "merge" ? segmentsOfFullMerge : segmentsToMerge;
  const joined = choose(manifest.segments);
  if (joined.length > 0) return merge(manifest, joined, options);
  const last = lastOverdue(state, options.now);
  const overdue = manifest.segments.find(({ builtAt }) => builtAt < last);
  if (overdue !== undefined) return merge(manifest, [overdue], options);
  return mergeVectorsIfDue(state, false, options);
}

/** The feed position of overdue deletions: old ones, or many; 0 if none. */
function lastOverdue(
  { manifest: { dead, erased, segments }, sessions }: State,
  now: number,
): number {
  const documents = segments.reduce((total, each) => total + each.documents, 0);
  const messages = erased.reduce((total, { from, to }) => total + to - from + 1, 0);
  const areMany = dead.length > DEAD_PART * (sessions + dead.length);
  const isMuch = messages > DEAD_PART * documents;
  const isOld = ({ at }: { readonly at: number }) => at < now - DEAD_KEPT_MS;
  const due = [
    ...dead.filter((each) => areMany || isOld(each)),
    ...erased.filter((each) => isMuch || isOld(each)),
  ];
  return due.reduce((greatest, { position }) => Math.max(greatest, position), 0);
}

function mergeVectorsIfDue(
  state: State,
  isPurge: boolean,
  options: MaintenanceOptions,
): Step | undefined {
  const { manifest } = state;
  const joined = vectorsToMerge(manifest, isPurge, lastOverdue(state, options.now));
  return joined.length === 0 ? undefined : mergeVectorSegments(manifest, joined, isPurge, options);
}

function* mergeVectorSegments(
  manifest: Manifest,
  joined: readonly VectorSegmentInfo[],
  isPurge: boolean,
  options: MaintenanceOptions,
): Step {
  const info = yield* joinVectors(manifest, joined, options.newSegment(), isPurge);
  const current = yield* ask<"manifest">({ need: "manifest" });
  const { vectors } = current;
  const numbers = new Set(joined.map(({ segment }) => segment));
  const present = vectors?.segments.filter(({ segment }) => numbers.has(segment)) ?? [];
  if (vectors === undefined || present.length < joined.length) return undefined;
  const first = present[0];
  const segments = vectors.segments.flatMap((each) => {
    if (!present.includes(each)) return [each];
    return each === first && info.documents > 0 ? [info] : [];
  });
  return (yield* swapVectors(current, { ...vectors, segments })) === undefined
    ? undefined
    : info.documents;
}

/** Starts an embedder's vectors, or adds some. */
function* takeVectors(
  task: StartVectorsTask | AddVectorsTask,
  manifest: Manifest,
  options: MaintenanceOptions,
): Step {
  if ("startVectors" in task) return yield* swapVectors(manifest, startVectors(task.startVectors));
  const batch = task.addVectors;
  const { vectors } = manifest;
  if (vectors === undefined || !continues(vectors, batch)) return undefined;
  const after = yield* addVectors(vectors, batch, options.newSegment());
  const isSwapped = yield* swapVectors(manifest, after);
  return isSwapped === undefined ? undefined : batch.pieces.length;
}

function* swapVectors(manifest: Manifest, vectors: VectorIndex): Step {
  return (yield* swap(manifest, { ...manifest, vectors })) ? 0 : undefined;
}

/** Flushes the tail up to `to`, or as it grows. */
function* flush(manifest: Manifest, to: number | undefined, options: MaintenanceOptions): Step {
  const segment = options.newSegment();
  const range = { from: manifest.through, to, limit: RANGE };
  const built = yield* buildRange(range, segment, options.indexing);
  const isSwapped = yield* swap(manifest, {
    ...manifest,
    through: built.info.to,
    segments: [...manifest.segments, built.info],
    dead: [...manifest.dead, ...built.deleted],
    erased: [...manifest.erased, ...built.erased],
  });
  return isSwapped ? built.info.documents : undefined;
}

function* merge(
  manifest: Manifest,
  joined: readonly SegmentInfo[],
  options: MaintenanceOptions,
): Step {
  const documents = joined.reduce((total, each) => total + each.documents, 0);
  if (documents >= LARGE_MERGE) releaseBuildMemory();
  const info = yield* mergeAll(joined, manifest, manifest.through, options);
  return (yield* replace(joined, info)) ? info.documents : undefined;
}

/** Rebuilds a segment from its range of the feed. The old one answers until then. */
function* rebuild(stale: SegmentInfo, options: MaintenanceOptions): Step {
  let parts: SegmentInfo[] = [];
  let documents = 0;
  for (let from = stale.from; from < stale.to; ) {
    const segment = options.newSegment();
    const range = { from, to: stale.to, limit: RANGE };
    const { info } = yield* buildRange(range, segment, options.indexing);
    // The feed ends before the segment: the store has lost indexed commits.
    if (info.to <= from) break;
    from = info.to;
    documents += info.documents;
    parts.push(info);
    const joined = segmentsToMerge(parts);
    if (joined.length > 0) {
      parts = withReplaced(parts, joined, yield* mergeAll(joined, NOTHING, 0, options));
    }
    yield* ask<"yield">({ need: "yield", done: from - stale.from, total: stale.to - stale.from });
    yield* flushIfDue(options);
  }
  const [first, ...others] = parts;
  const info =
    first === undefined || others.length === 0
      ? first
      : yield* mergeAll(parts, NOTHING, 0, options);
  return (yield* replace([stale], info)) ? documents : undefined;
}

/**
 * A large merge takes minutes. Flush meanwhile: a long tail slows searches and makes writers wait.
 */
function* flushIfDue(options: MaintenanceOptions): SansIo<void> {
  const { manifest, head } = yield* readState();
  if (head - manifest.through >= DUE_FACTOR * options.flushAt)
    yield* flush(manifest, undefined, options);
}

/** Replaces segments in the current manifest. */
function* replace(old: readonly SegmentInfo[], info: SegmentInfo | undefined): SansIo<boolean> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const numbers = new Set(old.map(({ segment }) => segment));
  const present = manifest.segments.filter(({ segment }) => numbers.has(segment));
  if (present.length < old.length) return false;
  const segments = withReplaced(manifest.segments, present, info);
  return yield* swap(manifest, { ...manifest, segments });
}

/** New segments of `after` record the manifest version that first named them. */
function* swap(before: Manifest, after: Manifest): SansIo<boolean> {
  const version = before.version + 1;
  const segments = after.segments.map((info) =>
    before.segments.includes(info) ? info : { ...info, namedIn: info.namedIn ?? version },
  );
  return yield* ask<"swap">({
    need: "swap",
    expected: before.version,
    manifest: { ...after, version, segments, ...stillNeeded(after) },
  });
}

type Losses = Pick<Manifest, "dead" | "erased">;

const NOTHING: Losses = { dead: [], erased: [] };

/** `through`: deletions and erasures up to there are given, or were applied before. */
function* mergeAll(
  joined: readonly SegmentInfo[],
  { dead, erased }: Losses,
  through: number,
  options: MaintenanceOptions,
): SansIo<SegmentInfo> {
  const segment = options.newSegment();
  const gone = { sessions: new Set(dead.map(({ session }) => session)), erased };
  const cache = new IndexCache(MERGE_CACHE_BYTES);
  const sources = joined.map((info) => info.segment);
  const between = () => flushIfDue(options);
  const merged = yield* mergeSegments(sources, segment, gone, cache, between);
  const version = indexVersion(options.indexing);
  // A merged segment is as old as its oldest part. Parts of a rebuild were never named.
  const older = joined.find(({ analyzer }) => analyzer !== version.analyzer);
  const named = joined.flatMap(({ namedIn }) => (namedIn === undefined ? [] : [namedIn]));
  return {
    ...merged,
    segment,
    from: (joined[0] as SegmentInfo).from,
    to: (joined.at(-1) as SegmentInfo).to,
    builtAt: Math.max(through, Math.min(...joined.map(({ builtAt }) => builtAt))),
    analyzer: older?.analyzer ?? version.analyzer,
    selection: Math.min(...joined.map(({ selection = 0 }) => selection)),
    ...(named.length === 0 ? {} : { namedIn: Math.min(...named) }),
  };
}

/** Replaces the adjacent segments `old` by `info`, or removes them. */
function withReplaced(
  segments: readonly SegmentInfo[],
  old: readonly SegmentInfo[],
  info: SegmentInfo | undefined,
): SegmentInfo[] {
  return segments.flatMap((segment) => {
    if (!old.includes(segment)) return [segment];
    return segment === old[0] && info !== undefined ? [info] : [];
  });
}

/** A deletion or an erasure is dropped once every segment was built after it. */
function stillNeeded({ segments, dead, erased, vectors }: Manifest): Losses {
  const all = [...segments, ...(vectors?.segments ?? [])];
  const oldest = Math.min(...all.map(({ builtAt }) => builtAt));
  return {
    dead: dead.filter(({ position }) => position > oldest),
    erased: erased.filter(({ position }) => position > oldest),
  };
}
