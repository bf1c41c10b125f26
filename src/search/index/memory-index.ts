/** Unindexed documents: those of the tail, or of a segment under construction. */

import type { WordSink } from "../analysis/analyze.ts";
import type { ArrayPool } from "./array-pool.ts";
import {
  CHUNK_DOCUMENTS,
  type Field,
  type KeyedField,
  MAX_LENGTH,
  type MessageField,
  type NoteField,
  SESSION_FIELDS,
  type SessionField,
} from "./layout.ts";
import { chunkOfShort } from "./lists/read-list.ts";
import { lowerBound, type TermList } from "./lists/term-list.ts";
import { MemoryField, type MemoryTerm } from "./memory-field.ts";
import type { MessageFacts } from "./message-columns.ts";
import {
  type ChunkColumns,
  emptyColumns,
  emptyFacts,
  type FactsColumns,
  type MessageColumns,
  toChunkColumns,
} from "./message-columns.ts";
import type { DocumentRange, FieldSize, FoundTerm, Source } from "./source.ts";
import type { Vocabulary } from "./terms/vocabulary.ts";

export interface MessagePlace {
  readonly session: number;
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly time: number;
  /** An index into `ROLES`. */
  readonly role: number;
}

/** Feeds the words of a text; gives its length. */
export type Words = (into: WordSink) => number;

interface MemoryMessage extends MessagePlace {
  readonly length: number;
  readonly output: number;
}

export class MemoryIndex implements Source {
  readonly fields: Readonly<Record<Field, MemoryField>>;
  readonly #messages: MemoryMessage[] = [];
  readonly #slots = new Map<number, number[]>();
  readonly #sessions: number[] = [];
  readonly #notes: Record<NoteField, string[]> = { memory: [], fact: [] };
  readonly #factSessions: number[] = [];
  readonly #lengths: Record<KeyedField, number[]> = {
    title: [],
    summary: [],
    about: [],
    memory: [],
    fact: [],
  };
  #columns: MessageColumns | undefined;

  /**
   * `vocabulary` is reused from earlier segments, which saves time. `pools` are the pools of arrays
   * for each field.
   */
  constructor(vocabulary?: Vocabulary, pools?: Readonly<Record<MessageField, ArrayPool>>) {
    this.fields = {
      message: new MemoryField(vocabulary, pools?.message),
      output: new MemoryField(vocabulary, pools?.output),
      title: new MemoryField(),
      summary: new MemoryField(),
      about: new MemoryField(),
      memory: new MemoryField(),
      fact: new MemoryField(),
    };
  }

  get slots(): number {
    return this.#messages.length;
  }

  /** Number of words of its messages, tool outputs included. */
  get words(): number {
    return this.fields.message.words + this.fields.output.words;
  }

  /** Size of one field of the messages. */
  messageSize(field: MessageField): FieldSize {
    let documents = 0;
    let totalLength = 0;
    for (const message of this.#messages) {
      const length = field === "message" ? message.length : message.output;
      if (length > 0) documents++;
      totalLength += length;
    }
    return { documents, totalLength };
  }

  /**
   * `marks` adds special terms about the message, which do not count for its length, and tells
   * whether it is a document: without words it usually is not. Gives whether it is.
   */
  addMessage(
    place: MessagePlace,
    words: Words,
    outputWords: Words = () => 0,
    marks: (into: WordSink, hasWords: boolean) => boolean = (_into, hasWords) => hasWords,
  ): boolean {
    const document = this.#messages.length;
    const { message: field, output: outputs } = this.fields;
    field.begin(document);
    const length = Math.min(words(field), MAX_LENGTH);
    outputs.begin(document);
    const output = Math.min(outputWords(outputs), MAX_LENGTH);
    if (!marks(field, length + output > 0)) return false;
    const { session, sequence, chain, depth, time, role } = place;
    this.#messages.push({ session, sequence, chain, depth, time, role, length, output });
    const slots = this.#slots.get(place.session);
    if (slots === undefined) this.#slots.set(place.session, [document]);
    else slots.push(document);
    this.#columns = undefined;
    return true;
  }

  addSession(session: number, words: Readonly<Record<SessionField, Words>>): void {
    const document = this.#sessions.push(session) - 1;
    for (const field of SESSION_FIELDS) this.#addKeyed(field, document, words[field]);
  }

  /** `words` is null for a deleted note: a tombstone for the versions in older segments. */
  addMemory(key: string, words: Words | null): void {
    this.#addNote("memory", key, words);
  }

  addFact(id: string, session: number, words: Words | null): void {
    this.#factSessions.push(session);
    this.#addNote("fact", id, words);
  }

  /** All messages, in order of arrival. */
  messageColumns(): MessageColumns {
    this.#columns ??= toColumns(this.#messages);
    return this.#columns;
  }

  /** All messages in the order of (session, sequence), and the number of each there. */
  messagesInOrder(): {
    readonly columns: MessageColumns;
    readonly facts: FactsColumns;
    /** By order of arrival; undefined if that is the same. */
    readonly numbers: Uint32Array | undefined;
  } {
    const messages = this.#messages;
    const isInOrder = messages.every((each, i) => i === 0 || bySequence(messages[i - 1], each) < 0);
    if (isInOrder) {
      return { columns: this.messageColumns(), facts: toFacts(messages), numbers: undefined };
    }
    const order = Uint32Array.from(messages.keys()).sort((a, b) =>
      bySequence(messages[a], messages[b] as MemoryMessage),
    );
    const numbers = new Uint32Array(order.length);
    order.forEach((came, number) => {
      numbers[came] = number;
    });
    const sorted = Array.from(order, (came) => messages[came] as MemoryMessage);
    return { columns: toColumns(sorted), facts: toFacts(sorted), numbers };
  }

  findTerm(field: Field, term: string): FoundTerm | null {
    const found = this.fields[field].find(term);
    return found === undefined ? null : new MemoryFoundTerm(found);
  }

  termsWithPrefix(field: Field, prefix: string, limit: number): readonly string[] {
    return [...this.fields[field].termsWithPrefix(prefix)].sort().slice(0, limit);
  }

  columns(chunk: number): ChunkColumns {
    const { roles, lengths, sessions, outputs, count } = this.messageColumns();
    const from = chunk * CHUNK_DOCUMENTS;
    const to = Math.min(count, from + CHUNK_DOCUMENTS);
    return toChunkColumns(
      { count: to - from, roles: roles.subarray(from, to), lengths: lengths.subarray(from, to) },
      sessions.subarray(from, to),
      outputs.subarray(from, to),
    );
  }

  facts(document: number): MessageFacts {
    return this.#messages[document] as MemoryMessage;
  }

  timesOfWindow(): readonly [number, number] {
    return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  }

  slotsOf(session: number): readonly DocumentRange[] {
    return (this.#slots.get(session) ?? []).map((slot) => ({ from: slot, to: slot + 1 }));
  }

  sessionKeys(): Uint32Array {
    return Uint32Array.from(this.#sessions);
  }

  noteKeys(field: NoteField): readonly string[] {
    return this.#notes[field];
  }

  factSessions(): Uint32Array {
    return Uint32Array.from(this.#factSessions);
  }

  lengths(field: KeyedField): Uint16Array {
    return Uint16Array.from(this.#lengths[field]);
  }

  fieldSize(): undefined {
    return undefined;
  }

  #addNote(field: NoteField, key: string, words: Words | null): void {
    const document = this.#notes[field].push(key) - 1;
    this.#addKeyed(field, document, words ?? (() => 0));
  }

  #addKeyed(field: KeyedField, document: number, words: Words): void {
    this.fields[field].begin(document);
    const length = words(this.fields[field]);
    this.#lengths[field].push(Math.min(length, MAX_LENGTH));
  }
}

function toColumns(messages: readonly MemoryMessage[]): MessageColumns {
  const columns = emptyColumns(messages.length);
  for (const [i, message] of messages.entries()) {
    columns.sessions[i] = message.session;
    columns.roles[i] = message.role;
    columns.lengths[i] = message.length;
    columns.outputs[i] = message.output;
  }
  return columns;
}

function toFacts(messages: readonly MemoryMessage[]): FactsColumns {
  const facts = emptyFacts(messages.length);
  for (const [i, message] of messages.entries()) {
    facts.sequences[i] = message.sequence;
    facts.chains[i] = message.chain;
    facts.depths[i] = message.depth;
    facts.times[i] = message.time;
  }
  return facts;
}

function bySequence(a: MemoryMessage | undefined, b: MemoryMessage): number {
  if (a === undefined) return 0;
  return a.session - b.session || a.sequence - b.sequence;
}

class MemoryFoundTerm implements FoundTerm {
  readonly documents: number;
  readonly #term: MemoryTerm;

  constructor(term: MemoryTerm) {
    this.#term = term;
    this.documents = term.documents.length;
  }

  list(chunk: number): TermList | null {
    const base = chunk * CHUNK_DOCUMENTS;
    const { documents } = this.#term;
    const from = lowerBound(documents, base, 0, documents.length);
    const to = lowerBound(documents, base + CHUNK_DOCUMENTS, from, documents.length);
    return from === to ? null : chunkOfShort(this.#term, from, to, base);
  }

  positions(document: number): readonly number[] {
    const { documents, counts, positions } = this.#term;
    const at = lowerBound(documents, document, 0, documents.length);
    let start = 0;
    for (let i = 0; i < at; i++) start += counts[i] as number;
    return [...positions.subarray(start, start + (counts[at] as number))];
  }
}
