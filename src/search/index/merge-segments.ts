/**
 * Merges adjacent segments, holding only a few lists at a time.
 *
 * Messages of deleted sessions and erased messages are dropped. Of sessions and notes only the
 * newest version stays.
 */

import { ask, type SansIo } from "../port.ts";
import type { PackedBlob } from "./blob-packer.ts";
import { Blobs } from "./blobs.ts";
import type { IndexCache } from "./index-cache.ts";
import { CHUNK_DOCUMENTS, FACTS_BLOCK, KEYED_FIELDS, MESSAGE_FIELDS } from "./layout.ts";
import { findErased, type Gone } from "./liveness.ts";
import { mergeField } from "./merge-field.ts";
import { emptyFacts, type MessageColumns, readFacts } from "./message-columns.ts";
import {
  byCodeUnit,
  byNumber,
  DROPPED,
  joinMessages,
  type MergedKeys,
  mergeKeys,
  NewOrder,
  type Renumbering,
} from "./renumbering.ts";
import { SegmentReader } from "./segment-reader.ts";
import { type SegmentSize, SegmentWriter } from "./segment-writer.ts";

export interface MergedSegment extends SegmentSize {
  readonly documents: number;
}

/** Bytes buffered before a write. */
const WRITE_BYTES = 512 * 1024;

/** Yields between two calls of `between`: less than a tenth of a second. */
const BETWEEN_PAUSES = 4;

/**
 * The oldest of `segments` first. Writes the blobs of `target`, and calls `between` periodically.
 */
export function* mergeSegments(
  segments: readonly number[],
  target: number,
  gone: Gone,
  cache: IndexCache,
  between: () => SansIo<void>,
): SansIo<MergedSegment> {
  const blobs = new Blobs(cache);
  const opened = yield* blobs.complete(() => segments.map((id) => SegmentReader.open(id, blobs)));
  const readers = opened.filter((reader) => reader !== undefined);
  const { writer, count, renumbering, sessions, memories, facts } = yield* mergeDocuments(
    readers,
    gone,
    blobs,
  );
  const pending: PackedBlob[] = [];
  let pauses = 0;
  const pause = function* (): SansIo<void> {
    pending.push(...writer.takeReady());
    if (pending.reduce((total, { bytes }) => total + bytes.length, 0) >= WRITE_BYTES) {
      yield* ask<"write">({ need: "write", segment: target, blobs: pending.splice(0) });
    }
    yield* ask<"yield">({ need: "yield", gentle: true });
    if (++pauses % BETWEEN_PAUSES === 0) yield* between();
  };
  yield* mergeFacts(readers, renumbering, writer, blobs, pause);
  for (const field of MESSAGE_FIELDS) {
    const messages = writer.messages(field);
    yield* mergeField(field, readers, renumbering, count, messages.writer, blobs, pause);
    messages.finish();
  }
  const joined = {
    title: sessions,
    summary: sessions,
    about: sessions,
    memory: memories,
    fact: facts,
  };
  for (const field of KEYED_FIELDS) {
    const keys = joined[field];
    const own = yield* all(blobs, readers, (reader) => reader.lengths(field));
    const lengths = renumbered(own, keys.renumbering, new Uint16Array(keys.count));
    const keyed = writer.keyed(field, lengths);
    yield* mergeField(field, readers, keys.renumbering, keys.count, keyed.writer, blobs, pause);
    keyed.finish();
  }
  const { blobs: rest, ...size } = writer.finish();
  yield* ask<"write">({ need: "write", segment: target, blobs: [...pending, ...rest] });
  return { ...size, documents: count };
}

/** The merged columns of all documents, before their postings. */
interface MergedDocuments {
  readonly writer: SegmentWriter;
  /** Number of messages. */
  readonly count: number;
  readonly renumbering: Renumbering;
  readonly sessions: MergedKeys;
  readonly memories: MergedKeys;
  readonly facts: MergedKeys;
}

/** Its blobs are released at its end: some bytes per document, and the keys of notes. */
function* mergeDocuments(
  readers: readonly SegmentReader[],
  gone: Gone,
  blobs: Blobs,
): SansIo<MergedDocuments> {
  const { sessions: dead } = gone;
  const { columns, renumbering } = yield* mergeMessages(readers, gone, blobs);
  const sessionKeys = yield* all(blobs, readers, (reader) => reader.sessionKeys());
  const sessions = mergeKeys(sessionKeys, byNumber, (session) => dead.has(session));
  const memoryKeys = yield* all(blobs, readers, (reader) => reader.noteKeys("memory"));
  const memories = mergeKeys(memoryKeys, byCodeUnit, () => false);
  const factSessions = yield* all(blobs, readers, (reader) => reader.factSessions());
  const factKeys = yield* all(blobs, readers, (reader) => reader.noteKeys("fact"));
  const facts = mergeKeys(factKeys, byCodeUnit, (_id, source, document) =>
    dead.has(factSessions[source]?.[document] ?? 0),
  );
  const writer = new SegmentWriter(columns, {
    sessions: renumbered(sessionKeys, sessions.renumbering, new Uint32Array(sessions.count)),
    memories: renumbered(memoryKeys, memories.renumbering, new Array<string>(memories.count)),
    facts: renumbered(factKeys, facts.renumbering, new Array<string>(facts.count)),
    factSessions: renumbered(factSessions, facts.renumbering, new Uint32Array(facts.count)),
  });
  return { writer, count: columns.count, renumbering, sessions, memories, facts };
}

/** Reads the same column of each segment. */
function* all<Value>(
  blobs: Blobs,
  readers: readonly SegmentReader[],
  read: (reader: SegmentReader) => Value | undefined,
): SansIo<Value[]> {
  const values = yield* blobs.complete(() => readers.map(read));
  return values.filter((value) => value !== undefined);
}

interface MergedMessages {
  readonly columns: MessageColumns;
  readonly renumbering: Renumbering;
}

function* mergeMessages(
  readers: readonly SegmentReader[],
  gone: Gone,
  blobs: Blobs,
): SansIo<MergedMessages> {
  const tables = yield* all(blobs, readers, (reader) => {
    const table = reader.sessionTable();
    return table && { slots: reader.slots, ...table };
  });
  const erased = yield* all(blobs, readers, (reader) => findErased(reader, gone.erased));
  const dropped = erased.map((documents) => new Set(documents));
  const { count, sessions, renumbering } = joinMessages(tables, gone.sessions, dropped);
  const columns = {
    count,
    sessions,
    roles: new Uint8Array(count),
    lengths: new Uint16Array(count),
    outputs: new Uint16Array(count),
  };
  for (const [source, reader] of readers.entries()) {
    yield* copyChunks(reader, renumbering[source] as Uint32Array, columns, blobs);
  }
  return { columns, renumbering };
}

function* copyChunks(
  reader: SegmentReader,
  numbers: Uint32Array,
  columns: MessageColumns,
  blobs: Blobs,
): SansIo<void> {
  for (const chunk of reader.header.chunks.keys()) {
    const own = yield* blobs.complete(() => reader.columns(chunk));
    for (let i = 0; own !== undefined && i < own.count; i++) {
      const to = numbers[chunk * CHUNK_DOCUMENTS + i] as number;
      if (to === DROPPED) continue;
      columns.roles[to] = own.roles[i] as number;
      columns.lengths[to] = own.lengths[i] as number;
      columns.outputs[to] = own.outputs?.lengths[i] ?? 0;
    }
    blobs.release();
  }
}

/** Blocks of facts between two pauses. */
const FACTS_STRIDE = 64;

/**
 * Writes the facts of all messages, block by block. Each source is read sequentially, one block at
 * a time.
 */
function* mergeFacts(
  readers: readonly SegmentReader[],
  renumbering: Renumbering,
  writer: SegmentWriter,
  blobs: Blobs,
  pause: () => SansIo<void>,
): SansIo<void> {
  const own = readers.map(() => ({ block: -1, facts: emptyFacts() }));
  const joined = emptyFacts();
  let filled = 0;
  let blocks = 0;
  const order = new NewOrder(renumbering);
  while (order.next()) {
    const { source, document } = order;
    const at = own[source] as (typeof own)[number];
    const block = Math.floor(document / FACTS_BLOCK);
    if (at.block !== block) {
      const reader = readers[source] as SegmentReader;
      const record = yield* blobs.complete(() => reader.factsRecord(block));
      if (record !== undefined) readFacts(record, at.facts);
      at.block = block;
    }
    const place = document % FACTS_BLOCK;
    joined.sequences[filled] = at.facts.sequences[place] as number;
    joined.chains[filled] = at.facts.chains[place] as number;
    joined.depths[filled] = at.facts.depths[place] as number;
    joined.times[filled] = at.facts.times[place] as number;
    if (++filled < FACTS_BLOCK) continue;
    writer.addFacts(joined, 0, filled);
    filled = 0;
    if (++blocks % FACTS_STRIDE > 0) continue;
    yield* pause();
    blobs.release();
  }
  if (filled > 0) writer.addFacts(joined, 0, filled);
}

/** Copies the value of each document to its new number in `joined`. */
function renumbered<Value, Joined extends { [number: number]: Value }>(
  sources: readonly ArrayLike<Value>[],
  renumbering: Renumbering,
  joined: Joined,
): Joined {
  for (const [source, values] of sources.entries()) {
    const numbers = renumbering[source] as Uint32Array;
    for (let document = 0; document < values.length; document++) {
      const to = numbers[document] as number;
      if (to !== DROPPED) joined[to] = values[document] as Value;
    }
  }
  return joined;
}
