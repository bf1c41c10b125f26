/**
 * Merges the postings of one term from several segments, term by term. Postings are delta-coded
 * varints; the low bit of each flags a frequency above 1.
 */

import { skipVarints } from "../bytes.ts";
import { CHUNK_DOCUMENTS } from "../layout.ts";
import { DROPPED } from "../renumbering.ts";
import type { TermCursor } from "../terms/term-cursor.ts";
import { MergedPostings } from "./merged-postings.ts";
import { countAt } from "./packed-counts.ts";
import { documentsOf, lowerBound, type TermList } from "./term-list.ts";

/** A segment with the term; its cursor is there. */
export interface PostingSource {
  readonly cursor: TermCursor;
  /** The new number of each document, or `DROPPED`. Ascending. */
  readonly numbers: Uint32Array;
  /** See `turnsOf`. */
  readonly turns: Uint32Array;
}

/** The documents at which renumbering does not ascend by one; ends with a sentinel. */
export function turnsOf(numbers: Uint32Array): Uint32Array {
  const turns: number[] = [];
  let expected = -1;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] as number;
    if (number !== expected) turns.push(i);
    expected = number === DROPPED ? DROPPED : number + 1;
  }
  return Uint32Array.from([...turns, NEVER]);
}

const NEVER = 0xffff_ffff;

export class PostingMerger {
  readonly #merged = new MergedPostings();
  /** The start of the current run, and its positions. */
  #from = 0;
  #positionsFrom = 0;

  /** `documents`: the number of merged documents, an upper bound of a list's length. */
  constructor(documents: number) {
    this.#merged.reserve(documents);
  }

  /** Valid until the next call. Undefined if a blob is missing. */
  merge(sources: readonly PostingSource[]): MergedPostings | undefined {
    const merged = this.#merged;
    let total = 0;
    for (const { cursor } of sources) total += cursor.documents;
    merged.clear();
    merged.reserve(total);
    for (const source of sources) {
      if (!source.cursor.isLong) this.#addShort(source);
      else if (!this.#addLong(source)) return undefined;
    }
    merged.putInOrder();
    return merged;
  }

  #addShort({ cursor, numbers, turns }: PostingSource): void {
    const { postings, documents: length } = cursor;
    this.#begin(cursor.positions, cursor.positionsFrom, cursor.positionsTo);
    const merged = this.#merged;
    const { documents, counts } = merged;
    let { count: filled } = merged;
    let nextTurn = 0;
    let at = cursor.postingsFrom;
    let own = 0;
    for (let i = 0; i < length; i++) {
      let byte = postings[at++] as number;
      let delta = byte & 0x7f;
      for (let bits = 7; byte >= 0x80; bits += 7) {
        byte = postings[at++] as number;
        delta |= (byte & 0x7f) << bits;
      }
      own += delta >>> 1;
      let count = 1;
      if ((delta & 1) === 1) {
        // At most 255.
        count = postings[at++] as number;
        if (count >= 0x80) count = (count & 0x7f) | ((postings[at++] as number) << 7);
      }
      const document = numbers[own] as number;
      if (own >= nextTurn) {
        const isDropped = this.#turn(filled, document, count);
        nextTurn = isDropped ? own : nextAfter(turns, own);
        if (isDropped) continue;
      }
      documents[filled] = document;
      counts[filled++] = count;
    }
    this.#end(filled);
  }

  /** False if a blob is missing. */
  #addLong(source: PostingSource): boolean {
    const term = source.cursor.segmentTerm();
    // Requests all, so that missing blobs are fetched together.
    const chunks = term.table()?.map((part) => ({
      base: part.chunk * CHUNK_DOCUMENTS,
      list: term.part(part),
      bytes: term.positionBytes(part),
    }));
    if (chunks === undefined) return false;
    for (const { base, list, bytes } of chunks) {
      if (list === undefined || bytes === undefined) return false;
      this.#begin(bytes, 0, bytes.length);
      this.#end(this.#addChunk(base, list, source));
    }
    return true;
  }

  /** Gives the number of postings so far. */
  #addChunk(base: number, list: TermList, { numbers, turns }: PostingSource): number {
    const { documents, counts, count: before } = this.#merged;
    let filled = before;
    let nextTurn = 0;
    const places = documentsOf(list);
    for (let i = 0; i < list.count; i++) {
      const own = base + (places[i] as number);
      const count = countAt(list, i);
      const document = numbers[own] as number;
      if (own >= nextTurn) {
        const isDropped = this.#turn(filled, document, count);
        nextTurn = isDropped ? own : nextAfter(turns, own);
        if (isDropped) continue;
      }
      documents[filled] = document;
      counts[filled++] = count;
    }
    return filled;
  }

  /** Begins a run of postings with these positions. */
  #begin(positions: Uint8Array, from: number, to: number): void {
    const merged = this.#merged;
    this.#from = merged.count;
    this.#positionsFrom = merged.positions.length;
    merged.positions.copy(positions, from, to);
  }

  #end(filled: number): void {
    const merged = this.#merged;
    merged.endRun(this.#from, filled, this.#positionsFrom, merged.positions.length);
  }

  /** Ends the run before this document. True if it was dropped with its positions. */
  #turn(filled: number, document: number, count: number): boolean {
    const merged = this.#merged;
    const { room } = merged.positions;
    let positions = 0;
    for (let i = this.#from; i < filled; i++) positions += merged.counts[i] as number;
    let at = skipVarints(room, this.#positionsFrom, positions);
    merged.endRun(this.#from, filled, this.#positionsFrom, at);
    const isDropped = document === DROPPED;
    if (isDropped) {
      merged.leaveOut();
      at = skipVarints(room, at, count);
    }
    this.#from = filled;
    this.#positionsFrom = at;
    return isDropped;
  }
}

function nextAfter(turns: Uint32Array, document: number): number {
  return turns[lowerBound(turns, document + 1, 0, turns.length)] as number;
}
