/**
 * A source of postings: a segment, or the tail in memory.
 *
 * `undefined` means a missing blob, which is recorded: the attempt runs again. `null` means absent.
 */

import type { Field, KeyedField } from "./layout.ts";
import type { TermList } from "./lists/term-list.ts";
import type { ChunkColumns, MessageFacts } from "./message-columns.ts";

/** One term in one source. */
export interface FoundTerm {
  /** Documents that contain it, dead ones included. */
  readonly documents: number;
  /** Its postings in a chunk. */
  list(chunk: number): TermList | null | undefined;
  /** Its positions in a document that contains it. */
  positions(document: number): readonly number[] | undefined;
}

/** Documents `from` to `to` (not included). */
export interface DocumentRange {
  readonly from: number;
  readonly to: number;
}

/** The number of documents with the field, and their total length. */
export interface FieldSize {
  readonly documents: number;
  readonly totalLength: number;
}

export interface Source {
  /** Slots for messages, dead ones included. */
  readonly slots: number;
  findTerm(field: Field, term: string): FoundTerm | null | undefined;
  /** At most `limit` terms with `prefix`, ascending. */
  termsWithPrefix(field: Field, prefix: string, limit: number): readonly string[] | undefined;

  columns(chunk: number): ChunkColumns | undefined;
  facts(document: number): MessageFacts | undefined;
  /** Bounds of the times of a window's messages. */
  timesOfWindow(chunk: number, window: number): readonly [number, number] | undefined;
  /** The slots of a session's messages, ascending. */
  slotsOf(session: number): readonly DocumentRange[] | undefined;

  /** The sessions with a title, a summary or the like here. */
  sessionKeys(): Uint32Array | undefined;
  noteKeys(field: "memory" | "fact"): readonly string[] | undefined;
  /** The session of each fact; 0 if unknown. */
  factSessions(): Uint32Array | undefined;
  /** The length of a field of each keyed document; 0 if absent. */
  lengths(field: KeyedField): Uint16Array | undefined;
  /** Size over all documents of the source, dead ones included, where it is known. */
  fieldSize(field: KeyedField): FieldSize | undefined;
}
