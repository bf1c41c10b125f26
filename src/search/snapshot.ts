/** A snapshot of the index: its segments, its tail, and their live documents. */

import { indexedTypes } from "./document/indexable-text.ts";
import { isCurrent } from "./index/add-feed.ts";
import { type Blobs, UnreadableSegment } from "./index/blobs.ts";
import { findLive, type Gone, type Liveness } from "./index/liveness.ts";
import { SegmentReader } from "./index/segment-reader.ts";
import type { FieldSize, Source } from "./index/source.ts";
import { ask, type Manifest, type SansIo } from "./port.ts";
import type { TenantCache } from "./search-cache.ts";
import { Tail } from "./tail.ts";
import type { VectorIndex } from "./vectors/vector-port.ts";

/** One source of documents, with its liveness. */
export interface View {
  readonly source: Source;
  readonly live: Liveness;
}

export interface Snapshot {
  /** In feed order, the tail last. */
  readonly views: readonly View[];
  readonly messages: FieldSize;
  /** Size of the tool outputs. */
  readonly outputs: FieldSize;
  /** True: some messages are not indexed, or by another version. */
  readonly indexing: boolean;
  /** The segments' lag behind the feed. */
  readonly lag: number;
  /** The vectors of the store. */
  readonly vectors: VectorIndex | undefined;
  /** Deleted sessions and erased entries that segments may still hold. */
  readonly gone: Gone;
  /** True: `isLate` ended the reading of the tail. The next search continues it. */
  readonly partial: boolean;
}

/** A longer tail is not read as a whole: maintenance is catching up with it. */
const MAX_TAIL = 16_384;
/** Of a longer tail only the newest KEPT_TAIL changes are read, so new messages are found at once. */
const KEPT_TAIL = 4_096;
/** The limit of a tail's words, about 25 MB of text. Beyond it the oldest part leaves memory. */
const MAX_TAIL_WORDS = 4 * 1024 * 1024;
/** Small enough that the deadline is checked every 100 ms, also with long messages. */
const SLICE = 256;

/**
 * `unreadable` segments are left out. At least one slice of the tail is read, however late it is.
 */
export function* readSnapshot(
  cache: TenantCache,
  blobs: Blobs,
  unreadable: ReadonlySet<number>,
  isLate: () => boolean = () => false,
): SansIo<Snapshot> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const { tail, head } = yield* readTail(cache, manifest, isLate);
  const segments = manifest.segments.filter(({ segment }) => !unreadable.has(segment));
  const readers = yield* blobs.complete(() =>
    segments.map(({ segment }) => SegmentReader.open(segment, blobs)),
  );
  const sources: Source[] = [...readers.filter((reader) => reader !== undefined), tail.index];
  const live = yield* readLiveness(cache, blobs, manifest, tail, sources, unreadable);
  const views = sources.map((source, i) => ({ source, live: live[i] as Liveness }));
  return {
    views,
    messages: sum(views.map((view) => view.live.messageSize)),
    outputs: sum(views.map((view) => view.live.outputSize)),
    indexing:
      tail.from > manifest.through || segments.some((info) => !isCurrent(info, cache.indexing)),
    lag: head - manifest.through,
    vectors: readable(manifest.vectors, unreadable),
    gone: goneOf(manifest, tail),
    partial: tail.through < head,
  };
}

/**
 * Runs a search and leaves out unreadable segments. A missing segment may have been merged
 * meanwhile: then the search restarts once with a newer manifest.
 */
export function* withoutUnreadable<Answer>(
  search: (unreadable: ReadonlySet<number>) => SansIo<Answer>,
): SansIo<Answer> {
  const unreadable = new Set<number>();
  let isOld = true;
  for (;;) {
    try {
      return yield* search(unreadable);
    } catch (error) {
      if (!(error instanceof UnreadableSegment)) throw error;
      if (error.how === "damaged" || !isOld) unreadable.add(error.segment);
      else isOld = false;
    }
  }
}

function* readTail(
  cache: TenantCache,
  manifest: Manifest,
  isLate: () => boolean,
): SansIo<{ readonly tail: Tail; readonly head: number }> {
  const isOurs = cache.tail !== undefined && cache.tail.from >= manifest.through;
  let tail = isOurs ? (cache.tail as Tail) : new Tail(manifest.through, cache.indexing);
  const whole = indexedTypes(cache.indexing.tools);
  for (;;) {
    const after = tail.through;
    const slice = yield* ask<"feed">({ need: "feed", after, limit: SLICE, whole });
    if (slice.head - tail.from > MAX_TAIL) {
      tail = new Tail(slice.head - KEPT_TAIL, cache.indexing);
      continue;
    }
    cache.forgetNamed(after, slice);
    tail.add(slice);
    if (tail.index.words > MAX_TAIL_WORDS && slice.through < slice.head) {
      tail = new Tail(slice.through, cache.indexing);
    }
    cache.tail = tail;
    const isRead = slice.through >= slice.head;
    // Cached paths and titles may have changed in the unread part.
    if (!isRead && isLate()) cache.forgetJoined();
    else if (!isRead) continue;
    return { tail, head: slice.head };
  }
}

function* readLiveness(
  cache: TenantCache,
  blobs: Blobs,
  manifest: Manifest,
  tail: Tail,
  sources: readonly Source[],
  unreadable: ReadonlySet<number>,
): SansIo<readonly Liveness[]> {
  const tailSizes = {
    messageSize: tail.index.messageSize("message"),
    outputSize: tail.index.messageSize("output"),
  };
  const key = [manifest.version, tail.from, tail.revision, ...unreadable].join("/");
  const known = cache.liveness;
  const last = known?.value.at(-1);
  if (known?.key === key && last?.messages === null) {
    // Only messages were added to the tail.
    return [...known.value.slice(0, -1), { ...last, ...tailSizes }];
  }
  const sizes = sources.map((source) =>
    source instanceof SegmentReader
      ? { messageSize: source.field("message"), outputSize: source.field("output") }
      : tailSizes,
  );
  const gone = goneOf(manifest, tail);
  const value = yield* blobs.complete(() => findLive(sources, sizes, gone));
  cache.liveness = { key, value: value as Liveness[] };
  return value as Liveness[];
}

function goneOf(manifest: Manifest, tail: Tail): Gone {
  const sessions = new Set([...manifest.dead.map(({ session }) => session), ...tail.deleted]);
  return { sessions, erased: [...manifest.erased, ...tail.erased] };
}

function readable(
  vectors: VectorIndex | undefined,
  unreadable: ReadonlySet<number>,
): VectorIndex | undefined {
  if (vectors === undefined || unreadable.size === 0) return vectors;
  return {
    ...vectors,
    segments: vectors.segments.filter(({ segment }) => !unreadable.has(segment)),
  };
}

export function sum(sizes: readonly FieldSize[]): FieldSize {
  return sizes.reduce(
    (total, size) => ({
      documents: total.documents + size.documents,
      totalLength: total.totalLength + size.totalLength,
    }),
    { documents: 0, totalLength: 0 },
  );
}
