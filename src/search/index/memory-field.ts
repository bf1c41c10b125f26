/** The words of one field, collected in memory: a segment that is being built, or the tail. */

import type { WordSink } from "../analysis/analyze.ts";
import { type Asking, ask } from "../port.ts";
import { ByteWriter } from "./bytes.ts";
import type { FieldWriter } from "./field-writer.ts";
import { MAX_TERM_COUNT } from "./layout.ts";
import { TermBytes } from "./terms/term-bytes.ts";
import { Vocabulary } from "./terms/vocabulary.ts";

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
export class MemoryField implements WordSink {
  readonly #vocabulary: Vocabulary;
  /** The terms that occur here: a shared vocabulary has others. */
  readonly #present: number[] = [];
  /** By term, side by side: its last word, and how many it has. */
  #ofTerms = new Uint32Array(2 * 1024);
  #document = 0;
  #words = 0;
  #ofTerm = new Uint32Array(1024);
  #documents = new Uint32Array(1024);
  #positions = new Uint32Array(1024);
  #previous = new Uint32Array(1024);

  constructor(vocabulary: Vocabulary = new Vocabulary()) {
    this.#vocabulary = vocabulary;
  }

  /** What is added from here on belongs to `document`. Documents come in ascending order. */
  begin(document: number): void {
    this.#document = document;
  }

  /** The positions of a term in a document come in ascending order. */
  term(term: string, position: number): void {
    this.#add(this.#vocabulary.idOf(term), position);
  }

  word(
    text: string,
    from: number,
    end: number,
    position: number,
    stem: (word: string) => string,
  ): void {
    this.#add(this.#vocabulary.idOfWord(text, from, end, stem), position);
  }

  *terms(): Iterable<string> {
    for (const id of this.#present) yield this.#vocabulary.term(id);
  }

  find(term: string): MemoryTerm | undefined {
    const id = this.#vocabulary.find(term);
    const count = id === undefined ? 0 : this.#countOf(id);
    if (id === undefined || count === 0) return undefined;
    const into = new Postings(count);
    let word = this.#ofTerms[2 * id] as number;
    for (let i = count - 1; i >= 0; i--) {
      into.documents[i] = this.#documents[word] as number;
      into.positions[i] = this.#positions[word] as number;
      word = this.#previous[word] as number;
    }
    into.group(into.documents, into.positions, 0, count);
    return {
      documents: into.documents.subarray(0, into.postings),
      counts: into.counts.subarray(0, into.postings),
      positions: into.positions.subarray(0, into.words),
    };
  }

  *writeTo(writer: FieldWriter): Asking<void> {
    const order = this.#vocabulary.sort(this.#present);
    const { ends, documents, positions } = this.#sorted(order);
    const into = new Postings(order.reduce((most, id) => Math.max(most, this.#countOf(id)), 0));
    const bytes = new ByteWriter();
    const term = new TermBytes();
    for (let i = 0; i < order.length; i++) {
      if (i % BREATH_TERMS === 0) yield* ask<"breath">({ need: "breath" });
      const id = order[i] as number;
      const end = ends[id] as number;
      into.group(documents, positions, end - this.#countOf(id), end);
      into.writePositions(bytes);
      term.set(this.#vocabulary.term(id));
      writer.add(term, into.postings, into.documents, into.counts, bytes.room, bytes.length);
      bytes.clear();
    }
  }

  /** The log by term in the given order: one pass over it, instead of a walk for each term. */
  #sorted(order: Uint32Array): {
    /** By term: where its words end. */
    readonly ends: Uint32Array;
    readonly documents: Uint32Array;
    readonly positions: Uint32Array;
  } {
    const ends = new Uint32Array(this.#ofTerms.length / 2);
    let start = 0;
    for (let i = 0; i < order.length; i++) {
      const id = order[i] as number;
      ends[id] = start;
      start += this.#countOf(id);
    }
    const documents = new Uint32Array(this.#words);
    const positions = new Uint32Array(this.#words);
    for (let word = 0; word < this.#words; word++) {
      const id = this.#ofTerm[word] as number;
      const at = ends[id] as number;
      documents[at] = this.#documents[word] as number;
      positions[at] = this.#positions[word] as number;
      ends[id] = at + 1;
    }
    return { ends, documents, positions };
  }

  #add(id: number, position: number): void {
    if (this.#words === this.#documents.length) this.#grow();
    while (2 * id >= this.#ofTerms.length) this.#ofTerms = doubled(this.#ofTerms);
    const word = this.#words++;
    this.#ofTerm[word] = id;
    this.#documents[word] = this.#document;
    this.#positions[word] = position;
    this.#previous[word] = this.#ofTerms[2 * id] as number;
    this.#ofTerms[2 * id] = word;
    const count = this.#ofTerms[2 * id + 1] as number;
    if (count === 0) this.#present.push(id);
    this.#ofTerms[2 * id + 1] = count + 1;
  }

  #countOf(id: number): number {
    return this.#ofTerms[2 * id + 1] ?? 0;
  }

  #grow(): void {
    this.#ofTerm = doubled(this.#ofTerm);
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

  /** Takes the words from `from` to `to`, and groups them by document. They may lie in here. */
  group(documents: Uint32Array, positions: Uint32Array, from: number, to: number): void {
    let postings = 0;
    let words = 0;
    let current = -1;
    for (let i = from; i < to; i++) {
      const document = documents[i] as number;
      if (document !== current) {
        current = document;
        this.documents[postings] = document;
        this.counts[postings] = 1;
        postings++;
      } else if ((this.counts[postings - 1] as number) < MAX_TERM_COUNT) {
        this.counts[postings - 1] = (this.counts[postings - 1] as number) + 1;
      } else {
        // Beyond the highest count.
        continue;
      }
      this.positions[words++] = positions[i] as number;
    }
    this.postings = postings;
    this.words = words;
  }

  /** Of each document the first position, then the differences. */
  writePositions(bytes: ByteWriter): void {
    let at = 0;
    for (let i = 0; i < this.postings; i++) {
      let previous = 0;
      for (const end = at + (this.counts[i] as number); at < end; at++) {
        const position = this.positions[at] as number;
        bytes.varint(position - previous);
        previous = position;
      }
    }
  }
}

function doubled(values: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2);
  larger.set(values);
  return larger;
}
