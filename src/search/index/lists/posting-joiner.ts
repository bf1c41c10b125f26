/** Joins the postings that several segments have of one term, one term after another. */

import { skipVarints } from "../bytes.ts";
import { CHUNK_DOCUMENTS } from "../layout.ts";
import { DROPPED } from "../renumbering.ts";
import type { SegmentTerm } from "../segment-term.ts";
import type { TermCursor } from "../terms/term-cursor.ts";
import { JoinedPostings } from "./joined-postings.ts";
import { countAt } from "./packed-counts.ts";
import { documentsOf, type TermList } from "./term-list.ts";

/** A segment that has the term: its cursor stands there. */
export interface PostingSource {
  readonly cursor: TermCursor;
  /** The new number of each document, or `DROPPED`. They ascend. */
  readonly numbers: Uint32Array;
}

/** No document is as far from its new number, and none that was dropped. */
const NO_SHIFT = 0x3fff_ffff;

export class PostingJoiner {
  readonly #joined = new JoinedPostings();
  /** Where the stretch begins that is being written, and its positions. */
  #from = 0;
  #positionsFrom = 0;

  /** `documents`: as many as there are when all are joined. No list is longer. */
  constructor(documents: number) {
    this.#joined.reserve(documents);
  }

  /** Valid until the next. Undefined if a blob is missing. */
  join(sources: readonly PostingSource[]): JoinedPostings | undefined {
    const joined = this.#joined;
    let total = 0;
    for (const { cursor } of sources) total += cursor.documents;
    joined.clear();
    joined.reserve(total);
    for (const { cursor, numbers } of sources) {
      if (!cursor.isLong) this.#addShort(cursor, numbers);
      else if (!this.#addLong(cursor.segmentTerm(), numbers)) return undefined;
    }
    joined.putInOrder();
    return joined;
  }

  #addShort(cursor: TermCursor, numbers: Uint32Array): void {
    const { postings, documents: length } = cursor;
    this.#begin(cursor.positions, cursor.positionsFrom, cursor.positionsTo);
    const joined = this.#joined;
    const { documents, counts } = joined;
    let { count: filled } = joined;
    let shift = NO_SHIFT;
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
      if (document - own !== shift) {
        shift = this.#turn(filled, document, own, count);
        if (shift === NO_SHIFT) continue;
      }
      documents[filled] = document;
      counts[filled++] = count;
    }
    this.#end(filled);
  }

  /** False if a blob is missing. */
  #addLong(term: SegmentTerm, numbers: Uint32Array): boolean {
    // All are asked for, so that what is missing is fetched at once.
    const chunks = term.table()?.map((part) => ({
      base: part.chunk * CHUNK_DOCUMENTS,
      list: term.part(part),
      bytes: term.positionBytes(part),
    }));
    if (chunks === undefined) return false;
    for (const { base, list, bytes } of chunks) {
      if (list === undefined || bytes === undefined) return false;
      this.#begin(bytes, 0, bytes.length);
      this.#end(this.#addChunk(base, list, numbers));
    }
    return true;
  }

  /** How many postings there are then. */
  #addChunk(base: number, list: TermList, numbers: Uint32Array): number {
    const { documents, counts, count: before } = this.#joined;
    let filled = before;
    let shift = NO_SHIFT;
    const places = documentsOf(list);
    for (let i = 0; i < list.count; i++) {
      const own = base + (places[i] as number);
      const count = countAt(list, i);
      const document = numbers[own] as number;
      if (document - own !== shift) {
        shift = this.#turn(filled, document, own, count);
        if (shift === NO_SHIFT) continue;
      }
      documents[filled] = document;
      counts[filled++] = count;
    }
    return filled;
  }

  /** What follows has these positions, from its first posting to its last. */
  #begin(positions: Uint8Array, from: number, to: number): void {
    const joined = this.#joined;
    this.#from = joined.count;
    this.#positionsFrom = joined.positions.length;
    joined.positions.copy(positions, from, to);
  }

  #end(filled: number): void {
    const joined = this.#joined;
    joined.endStretch(this.#from, filled, this.#positionsFrom, joined.positions.length);
  }

  /**
   * The stretch ends before this document. Gives how far those of the next are from their new numbers,
   * or `NO_SHIFT`: then the document was dropped, and its positions with it.
   */
  #turn(filled: number, document: number, own: number, count: number): number {
    const joined = this.#joined;
    const { room } = joined.positions;
    let positions = 0;
    for (let i = this.#from; i < filled; i++) positions += joined.counts[i] as number;
    let at = skipVarints(room, this.#positionsFrom, positions);
    joined.endStretch(this.#from, filled, this.#positionsFrom, at);
    if (document === DROPPED) {
      joined.leaveOut();
      at = skipVarints(room, at, count);
    }
    this.#from = filled;
    this.#positionsFrom = at;
    return document === DROPPED ? NO_SHIFT : document - own;
  }
}
