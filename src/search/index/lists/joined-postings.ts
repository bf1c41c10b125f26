/** The postings of a term in a segment that is made of others. */

import { DROPPED } from "../renumbering.ts";

/** The postings of a term, under their new numbers. Used again for each term. */
export class Postings {
  count = 0;
  documents: Uint32Array = new Uint32Array(64);
  counts: Uint8Array = new Uint8Array(64);
  bytes: Uint8Array = new Uint8Array(0);
  byteLength = 0;

  /** False for one that was dropped, or that does not come after the last. */
  push(document: number, count: number): boolean {
    const { documents, count: at } = this;
    if (document === DROPPED || (at > 0 && (documents[at - 1] as number) >= document)) return false;
    documents[at] = document;
    this.counts[at] = count;
    this.count = at + 1;
    return true;
  }

  reserve(count: number): void {
    if (count <= this.documents.length) return;
    const size = Math.ceil(Math.max(count, GROWTH * this.documents.length));
    this.documents = new Uint32Array(size);
    this.counts = new Uint8Array(size);
  }
}

/** The longest list has as many postings as there are messages: what it leaves free is never used. */
const GROWTH = 1.25;

/** Those of one segment. */
export class OwnPostings extends Postings {
  /** Where the positions of each posting begin and end in `bytes`. */
  starts: Uint32Array = new Uint32Array(64);
  ends: Uint32Array = new Uint32Array(64);

  override reserve(count: number): void {
    super.reserve(count);
    if (this.documents.length === this.starts.length) return;
    this.starts = new Uint32Array(this.documents.length);
    this.ends = new Uint32Array(this.documents.length);
  }
}
