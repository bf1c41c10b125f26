/** The words of one field, collected in memory: a segment that is being built, or the tail. */

import { type Asking, ask } from "../port.ts";
import { ByteWriter } from "./bytes.ts";
import type { FieldWriter } from "./field-writer.ts";
import { MAX_TERM_COUNT } from "./layout.ts";

/** Terms between two moments at which others may run: a few milliseconds. */
const BREATH_TERMS = 2_048;

/** The postings of a term, in the order in which the documents came. */
export interface MemoryTerm {
  readonly documents: Uint32Array;
  readonly counts: Uint8Array;
  /** The positions of all documents, one after another. */
  readonly positions: Uint32Array;
}

/**
 * One log of all words, in which each word points back to the one of the same term before it. Adding
 * a word is a few numbers, whatever the term: a list for each term would be mostly garbage.
 */
export class MemoryField {
  readonly #ids = new Map<string, number>();
  readonly #last: number[] = [];
  readonly #counts: number[] = [];
  #words = 0;
  #documents = new Uint32Array(1024);
  #positions = new Uint32Array(1024);
  #previous = new Uint32Array(1024);

  /** Documents come in ascending order, and so do the positions of a term in a document. */
  add(document: number, term: string, position: number): void {
    if (this.#words === this.#documents.length) this.#grow();
    const word = this.#words++;
    const id = this.#ids.get(term);
    this.#documents[word] = document;
    this.#positions[word] = position;
    if (id === undefined) {
      this.#ids.set(term, this.#last.length);
      this.#last.push(word);
      this.#counts.push(1);
    } else {
      this.#previous[word] = this.#last[id] as number;
      this.#last[id] = word;
      this.#counts[id] = (this.#counts[id] as number) + 1;
    }
  }

  get terms(): Iterable<string> {
    return this.#ids.keys();
  }

  find(term: string): MemoryTerm | undefined {
    const id = this.#ids.get(term);
    if (id === undefined) return undefined;
    const count = this.#counts[id] as number;
    const into = new Postings(count);
    this.#collect(id, into);
    return {
      documents: into.documents.subarray(0, into.postings),
      counts: into.counts.subarray(0, into.postings),
      positions: into.positions.subarray(0, into.words),
    };
  }

  *writeTo(writer: FieldWriter): Asking<void> {
    const most = this.#counts.reduce((a, b) => Math.max(a, b), 0);
    const into = new Postings(most);
    const bytes = new ByteWriter();
    // The default order of strings is that of a dictionary: by code unit.
    for (const [i, term] of [...this.#ids.keys()].sort().entries()) {
      if (i % BREATH_TERMS === 0) yield* ask<"breath">({ need: "breath" });
      this.#collect(this.#ids.get(term) as number, into);
      const { documents, counts, positions, postings } = into;
      let at = 0;
      for (let i = 0; i < postings; i++) {
        let previous = 0;
        for (const end = at + (counts[i] as number); at < end; at++) {
          const position = positions[at] as number;
          bytes.varint(position - previous);
          previous = position;
        }
      }
      writer.add(term, postings, documents, counts, bytes.view());
      bytes.clear();
    }
  }

  /** Follows the words of a term from the last to the first, and groups them by document. */
  #collect(id: number, into: Postings): void {
    const count = this.#counts[id] as number;
    const { documents, counts, positions } = into;
    let word = this.#last[id] as number;
    for (let i = count - 1; i >= 0; i--) {
      documents[i] = this.#documents[word] as number;
      positions[i] = this.#positions[word] as number;
      word = this.#previous[word] as number;
    }
    let postings = 0;
    let words = 0;
    let current = -1;
    for (let i = 0; i < count; i++) {
      const document = documents[i] as number;
      if (document !== current) {
        current = document;
        documents[postings] = document;
        counts[postings] = 1;
        postings++;
      } else if ((counts[postings - 1] as number) < MAX_TERM_COUNT) {
        counts[postings - 1] = (counts[postings - 1] as number) + 1;
      } else {
        // Beyond the highest count.
        continue;
      }
      positions[words++] = positions[i] as number;
    }
    into.postings = postings;
    into.words = words;
  }

  #grow(): void {
    this.#documents = doubled(this.#documents);
    this.#positions = doubled(this.#positions);
    this.#previous = doubled(this.#previous);
  }
}

/** Room for the postings of one term. */
class Postings {
  readonly documents: Uint32Array<ArrayBuffer>;
  readonly counts: Uint8Array<ArrayBuffer>;
  readonly positions: Uint32Array<ArrayBuffer>;
  postings = 0;
  words = 0;

  constructor(words: number) {
    this.documents = new Uint32Array(words);
    this.counts = new Uint8Array(words);
    this.positions = new Uint32Array(words);
  }
}

function doubled(values: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2);
  larger.set(values);
  return larger;
}
