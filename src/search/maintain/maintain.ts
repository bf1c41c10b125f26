/**
 * Upkeep of the index: moves the tail into segments, joins segments, builds again what is damaged,
 * outdated or holds what was deleted.
 *
 * Each step ends with one swap of the manifest. A step that dies leaves blobs that nobody names; a
 * step that was overtaken by another process changes nothing.
 */

import { type IndexingOptions, indexVersion } from "../index/add-feed.ts";
import { IndexCache } from "../index/index-cache.ts";
import { mergeSegments } from "../index/merge-segments.ts";
import {
  type Asking,
  ask,
  type DeadSession,
  type MaintenanceReport,
  type MaintenanceTask,
  type Manifest,
  type SegmentInfo,
} from "../port.ts";
import { buildRange } from "./build-range.ts";
import { segmentsToMerge } from "./merge-policy.ts";

export interface MaintenanceOptions {
  readonly indexing: IndexingOptions;
  /** A number for a new segment. */
  readonly newSegment: () => number;
  /** The tail is moved when the feed is this far ahead of the segments. */
  readonly flushAt: number;
  /** Segments that a search could not read. */
  readonly unreadable: ReadonlySet<number>;
}

/** Rows of the feed that one segment is built from. */
const RANGE = 8_192;
/** What a merge keeps of the segments it reads. */
const MERGE_CACHE_BYTES = 8 * 1024 * 1024;

/** One step. `more` tells whether the task has others. */
export function* maintainIndex(
  task: MaintenanceTask,
  options: MaintenanceOptions,
): Asking<MaintenanceReport> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const { head } = yield* ask<"feed">({ need: "feed", after: manifest.through, limit: 0 });
  const step = nextStep(task, manifest, head, options);
  const report = { through: manifest.through, head, documents: 0 };
  if (step === undefined) return { ...report, busy: false, more: false };
  const { next: changed, documents } = yield* step;
  const next = successor(manifest, changed);
  const isSwapped = yield* ask<"swap">({
    need: "swap",
    expected: manifest.version,
    manifest: next,
  });
  if (!isSwapped) return { ...report, busy: true, more: true };
  const more = nextStep(task, next, head, options) !== undefined;
  return { through: next.through, head, documents, busy: false, more };
}

interface Step {
  readonly next: Manifest;
  readonly documents: number;
}

/** Nothing has run yet when this returns: generators wait for their first step. */
function nextStep(
  task: MaintenanceTask,
  manifest: Manifest,
  head: number,
  options: MaintenanceOptions,
): Asking<Step> | undefined {
  const lag = head - manifest.through;
  const isForced = task === "flush" || task === "purge" || typeof task === "object";
  if (task !== "merge" && lag > 0 && (isForced || lag >= options.flushAt)) {
    return flush(manifest, head, options);
  }
  if (task === "flush") return undefined;
  const version = indexVersion(options.indexing);
  const rebuildThrough = typeof task === "object" ? task.rebuildThrough : -1;
  const stale = manifest.segments.find(
    ({ segment, analyzer, namedIn = 0 }) =>
      options.unreadable.has(segment) || analyzer !== version || namedIn <= rebuildThrough,
  );
  if (task === "purge") {
    const [only, ...others] = manifest.segments;
    const isClean = others.length === 0 && (only === undefined || only.builtAt >= manifest.through);
    // Not a merge: that keeps what it cannot tell to be gone, such as a fact of a deleted session.
    return isClean && stale === undefined
      ? undefined
      : rebuild(manifest, manifest.segments, options);
  }
  if (task !== "merge" && stale !== undefined) return rebuild(manifest, [stale], options);
  const joined = segmentsToMerge(manifest.segments);
  return joined.length === 0 ? undefined : merge(manifest, joined, options);
}

function* flush(manifest: Manifest, head: number, options: MaintenanceOptions): Asking<Step> {
  const segment = options.newSegment();
  const built = yield* buildRange(manifest.through, head, RANGE, segment, options.indexing);
  return {
    next: {
      ...manifest,
      through: built.info.to,
      segments: [...manifest.segments, built.info],
      dead: [...manifest.dead, ...built.deleted],
    },
    documents: built.info.documents,
  };
}

function* merge(
  manifest: Manifest,
  joined: readonly SegmentInfo[],
  options: MaintenanceOptions,
): Asking<Step> {
  const info = yield* mergeAll(joined, manifest.dead, manifest.through, options);
  return { next: replaced(manifest, joined, info), documents: info.documents };
}

/** Reads the segments' range of the feed again. They answer until the new one is there. */
function* rebuild(
  manifest: Manifest,
  stale: readonly SegmentInfo[],
  options: MaintenanceOptions,
): Asking<Step> {
  const start = stale[0]?.from ?? 0;
  const end = stale.at(-1)?.to ?? 0;
  let parts: SegmentInfo[] = [];
  let documents = 0;
  for (let from = start; from < end; ) {
    const segment = options.newSegment();
    const { info } = yield* buildRange(from, end, RANGE, segment, options.indexing);
    from = info.to;
    documents += info.documents;
    parts.push(info);
    const joined = segmentsToMerge(parts);
    if (joined.length > 0) {
      const info = yield* mergeAll(joined, [], 0, options);
      parts = replace(parts, joined, info);
    }
    yield* ask<"breath">({ need: "breath", done: from - start, total: end - start });
  }
  const [first, ...others] = parts;
  if (first === undefined) return { next: replaced(manifest, stale), documents };
  const info = others.length === 0 ? first : yield* mergeAll(parts, [], 0, options);
  return { next: replaced(manifest, stale, info), documents };
}

/** `through`: deletions up to there are in `dead`, or were applied before. */
function* mergeAll(
  joined: readonly SegmentInfo[],
  dead: readonly DeadSession[],
  through: number,
  options: MaintenanceOptions,
): Asking<SegmentInfo> {
  const segment = options.newSegment();
  const numbers = new Set(dead.map(({ session }) => session));
  const cache = new IndexCache(MERGE_CACHE_BYTES);
  const sources = joined.map((info) => info.segment);
  const isFirst = joined[0]?.from === 0;
  const merged = yield* mergeSegments(sources, segment, numbers, isFirst, cache);
  return {
    ...merged,
    segment,
    from: (joined[0] as SegmentInfo).from,
    to: (joined.at(-1) as SegmentInfo).to,
    builtAt: Math.max(through, Math.min(...joined.map(({ builtAt }) => builtAt))),
    analyzer: (joined[0] as SegmentInfo).analyzer,
  };
}

function replaced(manifest: Manifest, old: readonly SegmentInfo[], info?: SegmentInfo): Manifest {
  return { ...manifest, segments: replace(manifest.segments, old, info) };
}

function replace(
  segments: readonly SegmentInfo[],
  old: readonly SegmentInfo[],
  info?: SegmentInfo,
): SegmentInfo[] {
  return segments.flatMap((segment) => {
    if (!old.includes(segment)) return [segment];
    return segment === old[0] && info !== undefined ? [info] : [];
  });
}

/** `changed` under a version of its own, which the segments remember that are new in it. */
function successor(old: Manifest, changed: Manifest): Manifest {
  const version = old.version + 1;
  const segments = changed.segments.map((info) =>
    old.segments.includes(info) ? info : { ...info, namedIn: version },
  );
  return { ...changed, version, segments, dead: stillNeeded(segments, changed.dead) };
}

/** A deletion is forgotten once every segment was built after it. */
function stillNeeded(
  segments: readonly SegmentInfo[],
  dead: readonly DeadSession[],
): DeadSession[] {
  const oldest = Math.min(...segments.map(({ builtAt }) => builtAt));
  return dead.filter(({ position }) => position > oldest);
}
