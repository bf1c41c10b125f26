/**
 * Which documents count: not those of deleted sessions nor erased messages, and of sessions and notes
 * only the newest version. Computed when segments or deletions change, not for each search.
 */

import type { ErasedMessages } from "../port.ts";
import {
  CHUNK_DOCUMENTS,
  type Field,
  NOTE_FIELDS,
  type NoteField,
  SESSION_FIELDS,
  type SessionField,
} from "./layout.ts";
import { lowerBound } from "./lists/term-list.ts";
import type { Source } from "./source.ts";

/** How many documents count in a field, and how long they are together. */
export interface FieldSize {
  readonly documents: number;
  readonly totalLength: number;
}

/** What counts in one source. Masks have one byte a document: 1 counts. */
export interface Liveness {
  /** Null: all messages count. */
  readonly messages: Uint8Array | null;
  readonly messageSize: FieldSize;
  readonly sessions: Uint8Array;
  readonly notes: Readonly<Record<NoteField, Uint8Array>>;
  readonly sizes: Readonly<Record<SessionField | NoteField, FieldSize>>;
}

/** What segments may hold though it is no longer there. */
export interface Gone {
  readonly sessions: ReadonlySet<number>;
  readonly erased: readonly ErasedMessages[];
}

/** `sources` are in the order of the feed. Undefined if a blob is missing. */
export function findLive(
  sources: readonly Source[],
  messageSizes: readonly FieldSize[],
  gone: Gone,
): Liveness[] | undefined {
  const { sessions: deadSessions } = gone;
  const seenSessions = new Set<number>();
  const seenNotes = { memory: new Set<string>(), fact: new Set<string>() };
  const result: Liveness[] = [];
  for (let i = sources.length - 1; i >= 0; i--) {
    const source = sources[i] as Source;
    const messages = liveMessages(source, messageSizes[i] as FieldSize, gone);
    const sessionKeys = source.sessionKeys();
    const memoryKeys = source.noteKeys("memory");
    const factKeys = source.noteKeys("fact");
    const factSessions = source.factSessions();
    if (messages === undefined || sessionKeys === undefined) return undefined;
    if (memoryKeys === undefined || factKeys === undefined) return undefined;
    if (factSessions === undefined) return undefined;
    const isDead = (session: number | undefined) => deadSessions.has(session ?? 0);
    const sessions = newestOf(sessionKeys, seenSessions, (key) => isDead(key));
    const notes = {
      memory: newestOf(memoryKeys, seenNotes.memory, () => false),
      fact: newestOf(factKeys, seenNotes.fact, (_id, i) => isDead(factSessions[i])),
    };
    const sizes: Partial<Record<SessionField | NoteField, FieldSize | undefined>> = {};
    for (const field of SESSION_FIELDS) sizes[field] = sizeOf(source, field, sessions);
    for (const field of NOTE_FIELDS) sizes[field] = sizeOf(source, field, notes[field]);
    if (Object.values(sizes).includes(undefined)) return undefined;
    result.unshift({ ...messages, sessions, notes, sizes: sizes as Liveness["sizes"] });
  }
  return result;
}

/**
 * The documents of a source that are erased messages: ascending, each once. Undefined if a blob is
 * missing; all that could be asked for was.
 */
export function findErased(
  source: Pick<Source, "slotsOf" | "facts">,
  erased: readonly ErasedMessages[],
): readonly number[] | undefined {
  const found: number[] = [];
  let isComplete = true;
  for (const [session, ranges] of Map.groupBy(erased, (each) => each.session)) {
    const slots = source.slotsOf(session);
    if (slots === undefined) isComplete = false;
    const isErased = withinAny(ranges);
    for (const { from, to } of slots ?? []) {
      for (let document = from; document < to; document++) {
        const facts = source.facts(document);
        if (facts === undefined) isComplete = false;
        else if (isErased(facts.sequence)) found.push(document);
      }
    }
  }
  return isComplete ? found.sort((a, b) => a - b) : undefined;
}

/** Ranges may overlap: what was erased to be audited may be erased again to a tombstone. */
function withinAny(ranges: readonly ErasedMessages[]): (sequence: number) => boolean {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = ends.at(-1);
    if (last !== undefined && from <= last + 1) ends[ends.length - 1] = Math.max(last, to);
    else {
      starts.push(from);
      ends.push(to);
    }
  }
  const ascending = Uint32Array.from(starts);
  return (sequence) => {
    const at = lowerBound(ascending, sequence + 1, 0, starts.length) - 1;
    return at >= 0 && sequence <= (ends[at] as number);
  };
}

function liveMessages(
  source: Source,
  size: FieldSize,
  { sessions: deadSessions, erased }: Gone,
): Pick<Liveness, "messages" | "messageSize"> | undefined {
  let messages: Uint8Array | null = null;
  let { documents, totalLength } = size;
  const ranges = [...deadSessions].map((session) => source.slotsOf(session));
  const single = findErased(source, erased);
  if (single === undefined || ranges.includes(undefined)) return undefined;
  const all = [
    ...ranges.flatMap((range) => range ?? []),
    ...single.map((document) => ({ from: document, to: document + 1 })),
  ];
  for (const { from, to } of all) {
    messages ??= new Uint8Array(source.slots).fill(1);
    for (let document = from; document < to; document++) {
      // An erased message of a session that was deleted later is gone only once.
      if (messages[document] === 0) continue;
      messages[document] = 0;
      const columns = source.columns(Math.floor(document / CHUNK_DOCUMENTS));
      if (columns === undefined) return undefined;
      documents--;
      totalLength -= columns.lengths[document % CHUNK_DOCUMENTS] as number;
    }
  }
  return { messages, messageSize: { documents, totalLength } };
}

/** Marks the last document of each key that no newer source has. `seen` is added to. */
function newestOf<Key>(
  keys: ArrayLike<Key>,
  seen: Set<Key>,
  isDead: (key: Key, document: number) => boolean,
): Uint8Array {
  const live = new Uint8Array(keys.length);
  for (let document = keys.length - 1; document >= 0; document--) {
    const key = keys[document] as Key;
    if (seen.has(key)) continue;
    seen.add(key);
    if (!isDead(key, document)) live[document] = 1;
  }
  return live;
}

function sizeOf(
  source: Source,
  field: Exclude<Field, "message">,
  live: Uint8Array,
): FieldSize | undefined {
  const lengths = source.lengths(field);
  if (lengths === undefined) return undefined;
  let documents = 0;
  let totalLength = 0;
  for (let document = 0; document < lengths.length; document++) {
    const length = lengths[document] as number;
    if (length === 0 || live[document] !== 1) continue;
    documents++;
    totalLength += length;
  }
  return { documents, totalLength };
}
