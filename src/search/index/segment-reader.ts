/** Reads a stored segment on demand. */

import { type Blobs, UnreadableSegment } from "./blobs.ts";
import { ByteReader, u16View, u32View } from "./bytes.ts";
import {
  blockOf,
  type DictionaryIndex,
  findEntry,
  readDictionaryIndex,
  readTerms,
} from "./dictionary.ts";
import { FactsTable } from "./facts-table.ts";
import { firstSlot, slotAt } from "./index-cache.ts";
import type { Address } from "./layout.ts";
import {
  CHUNK_DOCUMENTS,
  FACTS_BLOCK,
  FIELDS,
  type Field,
  type FieldHeader,
  FORMAT,
  type KeyedField,
  type SegmentHeader,
  WINDOW_DOCUMENTS,
} from "./layout.ts";
import { lowerBound } from "./lists/term-list.ts";
import type { MessageFacts } from "./message-columns.ts";
import {
  type ChunkColumns,
  type FactsColumns,
  readChunk,
  readFacts,
  readFactsAt,
} from "./message-columns.ts";
import { SegmentTerm } from "./segment-term.ts";
import type { DocumentRange, FieldSize, FoundTerm, Source } from "./source.ts";

interface SessionTable {
  readonly numbers: Uint32Array;
  readonly starts: Uint32Array;
}

const SLOTS = {
  header: firstSlot("header"),
  chunk: firstSlot("chunk"),
  factsBlock: firstSlot("factsBlock"),
  factsTable: firstSlot("factsTable"),
  sessions: firstSlot("sessions"),
  keys: firstSlot("keys"),
  memory: firstSlot("memoryKeys"),
  fact: firstSlot("factKeys"),
  factSessions: firstSlot("factSessions"),
};
const FIELD_SLOTS = Object.fromEntries(
  FIELDS.map((field) => {
    const index = firstSlot(`${field}:index`);
    return [
      field,
      { index, block: firstSlot(`${field}:block`), lengths: firstSlot(`${field}:lengths`) },
    ];
  }),
) as Readonly<Record<Field, { readonly [part in "index" | "block" | "lengths"]: number }>>;

export class SegmentReader implements Source {
  readonly segment: number;
  readonly header: SegmentHeader;
  readonly #blobs: Blobs;
  /** Read for every session of a re-rank. */
  #sessionTable: SessionTable | undefined;
  /** Read by the hundred in one search: numeric keys are faster than text. */
  readonly #facts = new Map<number, FactsColumns>();
  /** Partial blocks of columns, read for single messages. */
  readonly #glanced = new Map<number, { readonly at: number; readonly facts: MessageFacts }>();
  /** Looked up for every chunk by conditions. */
  readonly #terms = new Map<Field, Map<string, FoundTerm | null>>();
  /** Read for every term. */
  readonly #dictionaries = new Map<Field, DictionaryIndex>();

  private constructor(segment: number, header: SegmentHeader, blobs: Blobs) {
    this.segment = segment;
    this.header = header;
    this.#blobs = blobs;
  }

  /** Undefined if its header is missing. */
  static open(segment: number, blobs: Blobs): SegmentReader | undefined {
    const header = blobs.parsed(segment, SLOTS.header, () => {
      const bytes = blobs.blob(segment, 0);
      if (bytes === undefined) return undefined;
      const value = JSON.parse(new TextDecoder().decode(bytes)) as SegmentHeader;
      return { value, bytes: 2 * bytes.length };
    });
    if (header === undefined) return undefined;
    // Another version's format: it is rebuilt, not misread.
    if (header.format !== FORMAT) throw new UnreadableSegment(segment, "damaged");
    return new SegmentReader(segment, header, blobs);
  }

  get slots(): number {
    return this.header.documents;
  }

  field(field: Field): FieldHeader {
    return this.header.fields[field];
  }

  findTerm(field: Field, term: string): FoundTerm | null | undefined {
    const terms = this.#terms.get(field) ?? new Map<string, FoundTerm | null>();
    this.#terms.set(field, terms);
    const known = terms.get(term);
    if (known !== undefined) return known;
    const found = this.#findTerm(field, term);
    if (found !== undefined) terms.set(term, found);
    return found;
  }

  #findTerm(field: Field, term: string): FoundTerm | null | undefined {
    const index = this.dictionary(field);
    if (index === undefined) return undefined;
    const block = index.block(blockOf(index, term));
    if (block === undefined) return null;
    const bytes = this.#blobs.record(this.segment, block.entries);
    if (bytes === undefined) return undefined;
    const entry = findEntry(block, bytes, term);
    return entry === undefined ? null : new SegmentTerm(this.segment, entry, this.#blobs);
  }

  termsWithPrefix(field: Field, prefix: string, limit: number): readonly string[] | undefined {
    const index = this.dictionary(field);
    if (index === undefined) return undefined;
    const found: string[] = [];
    for (let block = Math.max(0, blockOf(index, prefix)); block < index.length; block++) {
      const first = index.term(block);
      if (found.length >= limit || (first > prefix && !first.startsWith(prefix))) break;
      const terms = this.#termsOf(field, index, block);
      if (terms === undefined) return undefined;
      for (const term of terms) if (term.startsWith(prefix)) found.push(term);
    }
    return found.slice(0, limit);
  }

  dictionary(field: Field): DictionaryIndex | undefined {
    const known = this.#dictionaries.get(field);
    if (known !== undefined) return known;
    const { dictionary } = this.field(field);
    const read = this.#record(FIELD_SLOTS[field].index, dictionary, 3, readDictionaryIndex);
    if (read !== undefined) this.#dictionaries.set(field, read);
    return read;
  }

  #termsOf(field: Field, index: DictionaryIndex, number: number): readonly string[] | undefined {
    const slot = slotAt(FIELD_SLOTS[field].block, number);
    const block = index.block(number);
    return block && this.#record(slot, block.entries, 6, readTerms);
  }

  columns(chunk: number): ChunkColumns | undefined {
    const address = this.header.chunks[chunk];
    return address && this.#record(slotAt(SLOTS.chunk, chunk), address, 2, readChunk);
  }

  facts(document: number): MessageFacts | undefined {
    const number = Math.floor(document / FACTS_BLOCK);
    const at = document % FACTS_BLOCK;
    const seen = this.#glanced.get(number);
    // The best messages are compared repeatedly.
    if (seen?.at === at) return seen.facts;
    const known = this.#facts.get(number);
    if (known === undefined && seen === undefined) return this.#glance(number, at);
    const block = known ?? this.factsBlock(number);
    if (block === undefined) return undefined;
    this.#facts.set(number, block);
    return {
      sequence: block.sequences[at] as number,
      chain: block.chains[at] as number,
      depth: block.depths[at] as number,
      time: block.times[at] as number,
    };
  }

  /** Most blocks are read for one message: all 128 are decoded with the second one. */
  #glance(number: number, at: number): MessageFacts | undefined {
    const bytes = this.factsRecord(number);
    if (bytes === undefined) return undefined;
    const facts = readFactsAt(bytes, at);
    this.#glanced.set(number, { at, facts });
    return facts;
  }

  /** The facts of a block of messages, as they are stored. */
  factsRecord(number: number): Uint8Array | undefined {
    const address = this.#factsTable()?.block(number);
    return address && this.#blobs.record(this.segment, address);
  }

  factsBlock(number: number): FactsColumns | undefined {
    const address = this.#factsTable()?.block(number);
    return (
      address &&
      this.#record(slotAt(SLOTS.factsBlock, number), address, 4, (bytes) => readFacts(bytes))
    );
  }

  timesOfWindow(chunk: number, window: number): readonly [number, number] | undefined {
    const table = this.#factsTable();
    if (table === undefined) return undefined;
    const from = (chunk * CHUNK_DOCUMENTS + window * WINDOW_DOCUMENTS) / FACTS_BLOCK;
    const to = from + WINDOW_DOCUMENTS / FACTS_BLOCK;
    return table.times(from, to);
  }

  slotsOf(session: number): readonly DocumentRange[] | undefined {
    const table = this.sessionTable();
    if (table === undefined) return undefined;
    const at = lowerBound(table.numbers, session, 0, table.numbers.length);
    if (table.numbers[at] !== session) return [];
    return [{ from: table.starts[at] as number, to: table.starts[at + 1] ?? this.slots }];
  }

  /** The sessions with messages here, and the start of each. */
  sessionTable(): SessionTable | undefined {
    this.#sessionTable ??= this.#record(SLOTS.sessions, this.header.messageSessions, 1, (bytes) => {
      const count = bytes.length / 8;
      return { numbers: u32View(bytes, 0, count), starts: u32View(bytes, 4 * count, count) };
    });
    return this.#sessionTable;
  }

  sessionKeys(): Uint32Array | undefined {
    const { sessions, sessionCount } = this.header;
    return this.#record(SLOTS.keys, sessions, 1, (bytes) => u32View(bytes, 0, sessionCount));
  }

  noteKeys(field: "memory" | "fact"): readonly string[] | undefined {
    const address = field === "memory" ? this.header.memories : this.header.factIds;
    return this.#record(SLOTS[field], address, 3, readNames);
  }

  factSessions(): Uint32Array | undefined {
    const { factSessions } = this.header;
    return this.#record(SLOTS.factSessions, factSessions, 1, (bytes) =>
      u32View(bytes, 0, bytes.length / 4),
    );
  }

  lengths(field: KeyedField): Uint16Array | undefined {
    const { lengths } = this.field(field);
    if (lengths === undefined) return undefined;
    return this.#record(FIELD_SLOTS[field].lengths, lengths, 1, (bytes) =>
      u16View(bytes, 0, bytes.length / 2),
    );
  }

  fieldSize(field: KeyedField): FieldSize {
    const { documents, totalLength } = this.field(field);
    return { documents, totalLength };
  }

  #factsTable(): FactsTable | undefined {
    return this.#record(SLOTS.factsTable, this.header.facts, 2, (bytes) => new FactsTable(bytes));
  }

  /** `factor`: the approximate size of the parsed record relative to its bytes. */
  #record<Value>(
    slot: number,
    address: Address,
    factor: number,
    parse: (bytes: Uint8Array) => Value,
  ): Value | undefined {
    return this.#blobs.parsed(this.segment, slot, () => {
      const bytes = this.#blobs.record(this.segment, address);
      return bytes && { value: parse(bytes), bytes: 200 + factor * bytes.length };
    });
  }
}

function readNames(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes);
  const names: string[] = [];
  while (!reader.done) names.push(reader.text());
  return names;
}
