/**
 * Liveness (deleted documents): excludes deleted sessions and erased messages, and all but the
 * newest version of sessions and notes. Computed when segments or deletions change, not per search.
 */

import type { ErasedMessages } from "../port.ts";
import { CHUNK_DOCUMENTS, KEYED_FIELDS, type KeyedField, type NoteField } from "./layout.ts";
import { lowerBound } from "./lists/term-list.ts";
import type { FieldSize, Source } from "./source.ts";

/** Live documents of one source, as byte masks: 1 is live. */
export interface Liveness {
  /** Null: all messages are live. */
  readonly messages: Uint8Array | null;
  readonly messageSize: FieldSize;
  /** Size of the tool outputs. */
  readonly outputSize: FieldSize;
  readonly sessions: Uint8Array;
  readonly notes: Readonly<Record<NoteField, Uint8Array>>;
  readonly sizes: Readonly<Record<KeyedField, FieldSize>>;
}

type LiveMessages = Pick<Liveness, "messages" | "messageSize" | "outputSize">;

/** Sizes over all messages of a source, dead ones included. */
export type MessageSizes = Pick<Liveness, "messageSize" | "outputSize">;

/** Deleted sessions and erased entries that segments may still hold. */
export interface Gone {
  readonly sessions: ReadonlySet<number>;
  readonly erased: readonly ErasedMessages[];
}

/** `sources` are in feed order. Undefined if a blob is missing. */
export function findLive(
  sources: readonly Source[],
  messageSizes: readonly MessageSizes[],
  gone: Gone,
): Liveness[] | undefined {
  const { sessions: deadSessions } = gone;
  const seenSessions = new Set<number>();
  const seenNotes = { memory: new Set<string>(), fact: new Set<string>() };
  // Request all blobs before computing: the computation takes longer than finding missing ones.
  const read = sources.map((source, i) =>
    readColumns(source, messageSizes[i] as MessageSizes, gone),
  );
  if (read.includes(undefined)) return undefined;
  const result: Liveness[] = [];
  for (let i = sources.length - 1; i >= 0; i--) {
    const source = sources[i] as Source;
    const { messages, keys, factSessions, lengths } = read[i] as Columns;
    const isDead = (session: number | undefined) => deadSessions.has(session ?? 0);
    const isDeadSession = deadSessions.size === 0 ? undefined : isDead;
    // The first source's keys are never looked up, because all others are newer.
    const isLast = i === 0;
    const sessions = newestOf(keys.sessions, seenSessions, isLast, isDeadSession);
    const notes = {
      memory: newestOf(keys.memory, seenNotes.memory, isLast, undefined),
      fact: newestOf(keys.fact, seenNotes.fact, isLast, (_id, j) => isDead(factSessions[j])),
    };
    const sizes: Partial<Record<KeyedField, FieldSize>> = {};
    for (const field of KEYED_FIELDS) {
      const { live, isAll } = field === "memory" || field === "fact" ? notes[field] : sessions;
      const whole = isAll ? source.fieldSize(field) : undefined;
      sizes[field] = whole ?? sizeOf(lengths[field], live);
    }
    result.unshift({
      ...messages,
      sessions: sessions.live,
      notes: { memory: notes.memory.live, fact: notes.fact.live },
      sizes: sizes as Liveness["sizes"],
    });
  }
  return result;
}

/** The columns of a source that liveness reads. */
interface Columns {
  readonly messages: LiveMessages;
  readonly keys: {
    readonly sessions: Uint32Array;
    readonly memory: readonly string[];
    readonly fact: readonly string[];
  };
  readonly factSessions: Uint32Array;
  readonly lengths: Readonly<Record<KeyedField, Uint16Array>>;
}

/** Undefined if a blob is missing; all were requested. */
function readColumns(source: Source, sizes: MessageSizes, gone: Gone): Columns | undefined {
  const messages = liveMessages(source, sizes, gone);
  const sessions = source.sessionKeys();
  const memory = source.noteKeys("memory");
  const fact = source.noteKeys("fact");
  const factSessions = source.factSessions();
  const lengths = KEYED_FIELDS.map((field) => [field, source.lengths(field)] as const);
  if (messages === undefined || sessions === undefined || memory === undefined) return undefined;
  if (fact === undefined || factSessions === undefined) return undefined;
  if (lengths.some(([, each]) => each === undefined)) return undefined;
  return {
    messages,
    keys: { sessions, memory, fact },
    factSessions,
    lengths: Object.fromEntries(lengths) as Columns["lengths"],
  };
}

/**
 * The erased messages of a source: ascending, distinct. Undefined if a blob is missing; all were
 * requested.
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

/** Ranges may overlap: an `audit-only` erasure may be followed by a tombstone. */
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
  { messageSize, outputSize }: MessageSizes,
  { sessions: deadSessions, erased }: Gone,
): LiveMessages | undefined {
  let messages: Uint8Array | null = null;
  const [said, given] = [{ ...messageSize }, { ...outputSize }];
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
      // An erased message of a session that was deleted later counts once.
      if (messages[document] === 0) continue;
      messages[document] = 0;
      const columns = source.columns(Math.floor(document / CHUNK_DOCUMENTS));
      if (columns === undefined) return undefined;
      takeFrom(said, columns.lengths[document % CHUNK_DOCUMENTS] as number);
      takeFrom(given, columns.outputs?.lengths[document % CHUNK_DOCUMENTS] ?? 0);
    }
  }
  return { messages, messageSize: said, outputSize: given };
}

function takeFrom(size: { documents: number; totalLength: number }, length: number): void {
  if (length > 0) size.documents--;
  size.totalLength -= length;
}

/**
 * Marks the last document of each key that no newer source has. Updates `seen`, unless this is the
 * last source.
 */
function newestOf<Key extends number | string>(
  keys: ArrayLike<Key>,
  seen: Set<Key>,
  isLast: boolean,
  isDead: ((key: Key, document: number) => boolean) | undefined,
): { readonly live: Uint8Array; readonly isAll: boolean } {
  const live = new Uint8Array(keys.length);
  // Usually the last source has most of the keys, each once, and no later source looks them up.
  const isEnough = isLast && isAscending(keys);
  if (isEnough && seen.size === 0 && isDead === undefined) {
    return { live: live.fill(1), isAll: true };
  }
  for (let document = keys.length - 1; document >= 0; document--) {
    const key = keys[document] as Key;
    if (seen.has(key)) continue;
    if (!isEnough) seen.add(key);
    if (isDead === undefined || !isDead(key, document)) live[document] = 1;
  }
  return { live, isAll: false };
}

/** Then no key repeats. */
function isAscending(keys: ArrayLike<number | string>): boolean {
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as number | string) >= (keys[i] as number | string)) return false;
  }
  return true;
}

function sizeOf(lengths: Uint16Array, live: Uint8Array): FieldSize {
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
