/** Builds a segment from a range of the feed. */

import { memoryKey } from "../../model/note.ts";
import type { Language } from "../analysis/analyze.ts";
import { indexedTypes } from "../document/indexable-text.ts";
import {
  addEntry,
  addFact,
  addMemory,
  addSession,
  type IndexingOptions,
  indexVersion,
} from "../index/add-feed.ts";
import { ArrayPool } from "../index/array-pool.ts";
import { buildSegment } from "../index/build-segment.ts";
import { MemoryIndex } from "../index/memory-index.ts";
import { byCodeUnit } from "../index/renumbering.ts";
import { Vocabulary } from "../index/terms/vocabulary.ts";
import {
  ask,
  type DeadSession,
  type ErasedMessages,
  type FeedFact,
  type FeedMemory,
  type FeedSession,
  type FeedSlice,
  type SansIo,
  type SegmentInfo,
} from "../port.ts";

export interface BuiltRange {
  readonly info: SegmentInfo;
  readonly deleted: readonly DeadSession[];
  readonly erased: readonly ErasedMessages[];
  /** The end of the feed when it was last read. */
  readonly head: number;
}

/**
 * Rows of the feed per read, at first and at most. A slice ends early where messages are long, and
 * rows beyond its end are read again; so the next slice asks for at most twice as many.
 */
const FIRST_SLICE = 128;
const SLICE = 1_024;
/** Messages between two yields: a few milliseconds. */
const YIELD_ENTRIES = 64;

/**
 * A segment ends with the slice in which it reaches this many words: they are sorted in memory, at
 * twenty bytes each. Messages of a coding agent have some fifty words, those of people a thousand.
 */
const MAX_WORDS = 768 * 1024;

/** The last slice of a growing feed has at most this many rows. */
const FEW_ROWS = 256;

export interface RangeToBuild {
  readonly from: number;
  /** Undefined: continue while new changes arrive. */
  readonly to: number | undefined;
  /** Rows at most. It also ends where there are too many words. */
  readonly limit: number;
}

/** Writes a segment of a range of the feed. */
export function* buildRange(
  { from, to, limit }: RangeToBuild,
  segment: number,
  options: IndexingOptions,
): SansIo<BuiltRange> {
  const vocabulary = vocabularyOf(options.language);
  const index = new MemoryIndex(vocabulary, pools);
  /** Without their entries, which are by far the most. */
  const slices: Slice[] = [];
  const whole = indexedTypes(options.tools);
  const end = Math.min(to ?? Number.POSITIVE_INFINITY, from + limit);
  const now = to === undefined;
  let through = from;
  let usual = FIRST_SLICE;
  for (let isLast = from >= end; !isLast; ) {
    const rows = Math.min(usual, end - through);
    const slice = yield* ask<"feed">({ need: "feed", after: through, limit: rows, whole, now });
    if (slice.through === through) break;
    const { entries, ...rest } = slice;
    slices.push(rest);
    const isEnd = now && slice.through >= slice.head && slice.through - through <= FEW_ROWS;
    usual = Math.min(SLICE, 2 * (slice.through - through));
    through = slice.through;
    for (const [i, entry] of entries.entries()) {
      if (i % YIELD_ENTRIES === 0) yield* ask<"yield">({ need: "yield" });
      addEntry(index, entry, options);
    }
    const isFull = index.words >= MAX_WORDS || vocabulary.bytes >= FULL_VOCABULARY_BYTES;
    isLast = slice.through >= end || isEnd || isFull;
  }
  addOthers(index, slices, options);
  const built = yield* buildSegment(index);
  yield* ask<"write">({ need: "write", segment, blobs: built.blobs });
  return {
    info: {
      segment,
      from,
      to: through,
      // Later slices may know of more deletions than the first: those are recorded as such.
      builtAt: slices[0]?.head ?? from,
      ...indexVersion(options),
      documents: built.documents,
      bytes: built.bytes,
      positionBytes: built.positionBytes,
    },
    deleted: slices.flatMap(({ deleted }) => deleted),
    erased: slices.flatMap(({ erased }) => erased),
    head: slices.at(-1)?.head ?? from,
  };
}

type Slice = Omit<FeedSlice, "entries">;

/** Adds notes and sessions, in key order. */
function addOthers(index: MemoryIndex, slices: readonly Slice[], options: IndexingOptions): void {
  const sessions = newest(
    slices,
    (slice) => slice.sessions,
    ({ session }) => session,
  );
  for (const session of sessions.sort((a, b) => a.session - b.session)) {
    addSession(index, session, options);
  }
  const memories = newest(slices, (slice) => slice.memories, keyOfMemory);
  for (const memory of memories.sort((a, b) => byCodeUnit(keyOfMemory(a), keyOfMemory(b)))) {
    addMemory(index, memory, options);
  }
  const facts = newest(
    slices,
    (slice) => slice.facts,
    ({ id }) => id,
  );
  for (const fact of facts.sort((a, b) => byCodeUnit(a.id, b.id))) addFact(index, fact, options);
}

/** Reusable arrays of the last segment that was built. */
const pools = { message: new ArrayPool(), output: new ArrayPool() };

/**
 * The vocabularies of earlier segments by language; an oversized one is replaced by an empty one.
 */
const vocabularies = new Map<Language, Vocabulary>();
const MAX_VOCABULARY_BYTES = 24 * 1024 * 1024;
/** A larger vocabulary is not reused: some texts hardly repeat a word. */
const FULL_VOCABULARY_BYTES = 28 * 1024 * 1024;

/** Releases the pooled memory of segment building. */
export function releaseBuildMemory(): void {
  vocabularies.clear();
  pools.message.clear();
  pools.output.clear();
}

function vocabularyOf(language: Language): Vocabulary {
  const known = vocabularies.get(language);
  if (known !== undefined && known.bytes < MAX_VOCABULARY_BYTES) return known;
  const vocabulary = new Vocabulary();
  vocabularies.set(language, vocabulary);
  return vocabulary;
}

function keyOfMemory({ agent, name }: FeedMemory): string {
  return memoryKey(agent, name);
}

/** The last version of each item. */
function newest<Thing extends FeedSession | FeedMemory | FeedFact, Key>(
  slices: readonly Slice[],
  things: (slice: Slice) => readonly Thing[],
  key: (thing: Thing) => Key,
): Thing[] {
  const byKey = new Map<Key, Thing>();
  for (const slice of slices) for (const thing of things(slice)) byKey.set(key(thing), thing);
  return [...byKey.values()];
}
