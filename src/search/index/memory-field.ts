/** The terms of one field in memory: of a segment under construction, or of the tail. */

import type { WordSink } from "../analysis/analyze.ts";
import type { Folded } from "../analysis/fold.ts";
import { ask, type SansIo } from "../port.ts";
import { ArrayPool } from "./array-pool.ts";
import { ByteWriter, putVarint } from "./bytes.ts";
import type { FieldWriter } from "./field-writer.ts";
import { MAX_TERM_COUNT } from "./layout.ts";
import { TermBytes } from "./terms/term-bytes.ts";
import { Vocabulary } from "./terms/vocabulary.ts";

/** Terms between two yields: a few milliseconds. */
const YIELD_TERMS = 2_048;

/** The postings of a term, in order of arrival. */
export interface MemoryTerm {
  readonly documents: Uint32Array;
  readonly counts: Uint8Array;
  /** The positions of all documents, concatenated. */
  readonly positions: Uint32Array;
}

/**
 * One log of all words, in order of arrival. Adding a word appends a few numbers; a list per term
 * would be mostly garbage.
 */
export class MemoryField implements WordSink {
  readonly #vocabulary: Vocabulary;
  readonly #pool: ArrayPool;
  /**
   * Per term, its number among the first `#counted` words: a shared vocabulary has other terms too.
   */
  #counts: Uint32Array<ArrayBuffer>;
  #counted = 0;
  /** The terms that these words have. */
  readonly #terms: number[] = [];
  /** The documents in order of arrival, and the first word of each. */
  readonly #documents: number[] = [];
  readonly #begins: number[] = [];
  #words = 0;
  #ofTerm: Uint32Array<ArrayBuffer>;
  #positions: Uint32Array<ArrayBuffer>;
  readonly #links: Links = new Links();

  /** With `pool`, it uses the pooled arrays, and returns them. */
  constructor(vocabulary: Vocabulary = new Vocabulary(), pool: ArrayPool = new ArrayPool()) {
    this.#vocabulary = vocabulary;
    this.#pool = pool;
    this.#counts = pool.take("counts", 1_024);
    this.#ofTerm = pool.take("ofTerm", 1_024);
    this.#positions = pool.take("positions", 1_024);
  }

  /** All that were added. */
  get words(): number {
    return this.#words;
  }

  /** Starts `document`. Documents ascend. */
  begin(document: number): void {
    if (this.#documents.at(-1) === document) return;
    this.#documents.push(document);
    this.#begins.push(this.#words);
  }

  /** The positions of a term in a document ascend. */
  term(term: string, position: number): void {
    this.#add(this.#vocabulary.idOf(term), position);
  }

  word(
    folded: Folded,
    from: number,
    end: number,
    position: number,
    stem: (word: string) => string,
  ): void {
    this.#add(this.#vocabulary.idOfWord(folded, from, end, stem), position);
  }

  *termsWithPrefix(prefix: string): Iterable<string> {
    const counts = this.#count();
    for (const id of this.#vocabulary.withPrefix(prefix)) {
      if ((counts[id] as number) > 0) yield this.#vocabulary.term(id);
    }
  }

  find(term: string): MemoryTerm | undefined {
    const id = this.#vocabulary.find(term);
    const count = id === undefined ? 0 : (this.#count()[id] as number);
    if (id === undefined || count === 0) return undefined;
    this.#links.add(this.#ofTerm, this.#words);
    const found = { documents: [], counts: [], positions: [] } as Grouped;
    const words = new Uint32Array(count);
    for (let i = count - 1, word = this.#links.lastOf(id); i >= 0; i--) {
      words[i] = word;
      word = this.#links.before(word);
    }
    let at = 0;
    for (const word of words) {
      at = lastAtMost(this.#begins, word, at);
      addWord(found, this.#documents[at] as number, this.#positions[word] as number);
    }
    return {
      documents: Uint32Array.from(found.documents),
      counts: Uint8Array.from(found.counts),
      positions: Uint32Array.from(found.positions),
    };
  }

  /**
   * `numbers` are the documents' numbers in the segment; default: in order of arrival. The field is
   * unusable afterwards.
   */
  *writeTo(writer: FieldWriter, numbers?: Uint32Array): SansIo<void> {
    const log = this.#sorted(numbers);
    const into = new Postings(log.most);
    for (let i = 0; i < log.terms.length; i += YIELD_TERMS) {
      yield* ask<"yield">({ need: "yield" });
      this.#write(log, i, Math.min(log.terms.length, i + YIELD_TERMS), into, writer);
    }
    this.#pool.release("ofTerm", this.#ofTerm);
    this.#pool.release("positions", this.#positions);
    this.#pool.release("words", log.words);
    // Reset the counts for the next segment.
    for (const id of log.terms) this.#counts[id] = 0;
    this.#pool.release("counts", this.#counts);
  }

  #write(
    { terms, starts, words }: SortedLog,
    from: number,
    to: number,
    into: Postings,
    writer: FieldWriter,
  ): void {
    const bytes = new ByteWriter();
    const term = new TermBytes();
    for (let i = from; i < to; i++) {
      into.write(words, starts[i] as number, starts[i + 1] as number, bytes);
      this.#vocabulary.copyTerm(terms[i] as number, term);
      writer.add(term, into.postings, into.documents, into.counts, bytes.room, bytes.length);
      bytes.clear();
    }
  }

  /** The log grouped by term: one pass, instead of a walk per term. */
  #sorted(numbers: Uint32Array | undefined): SortedLog {
    const counts = this.#count();
    const terms = Uint32Array.from(this.#terms);
    this.#vocabulary.sort(terms);
    const starts = new Uint32Array(terms.length + 1);
    let most = 0;
    for (let i = 0; i < terms.length; i++) {
      const id = terms[i] as number;
      const count = counts[id] as number;
      const start = starts[i] as number;
      // From here on: the write position of the term's next word.
      counts[id] = start;
      starts[i + 1] = start + count;
      if (count > most) most = count;
    }
    const words = this.#pool.take("words", 2 * this.#words);
    const [ofTerm, positions] = [this.#ofTerm, this.#positions];
    const places = numbers === undefined ? undefined : placesByNumber(this.#documents, numbers);
    for (let place = 0; place < this.#begins.length; place++) {
      const i = places === undefined ? place : (places[place] as number);
      const came = this.#documents[i] as number;
      const document = numbers === undefined ? came : (numbers[came] as number);
      const next = this.#begins[i + 1] ?? this.#words;
      for (let word = this.#begins[i] as number; word < next; word++) {
        const id = ofTerm[word] as number;
        const at = counts[id] as number;
        words[2 * at] = document;
        words[2 * at + 1] = positions[word] as number;
        counts[id] = at + 1;
      }
    }
    return { terms, starts, words, most };
  }

  #add(id: number, position: number): void {
    if (this.#words === this.#ofTerm.length) this.#grow();
    const word = this.#words++;
    this.#ofTerm[word] = id;
    this.#positions[word] = position;
  }

  /** Counted on demand: one pass is faster than counting word by word. */
  #count(): Uint32Array {
    if (this.#counts.length < this.#vocabulary.size) {
      this.#counts = enlarged(this.#counts, Math.ceil(1.25 * this.#vocabulary.size));
    }
    const [counts, ofTerm] = [this.#counts, this.#ofTerm];
    for (let word = this.#counted; word < this.#words; word++) {
      const id = ofTerm[word] as number;
      const count = counts[id] as number;
      if (count === 0) this.#terms.push(id);
      counts[id] = count + 1;
    }
    this.#counted = this.#words;
    return counts;
  }

  #grow(): void {
    this.#ofTerm = doubled(this.#ofTerm);
    this.#positions = doubled(this.#positions);
  }
}

/** All words by term. */
interface SortedLog {
  readonly terms: Uint32Array;
  /** The start of each term's words, plus the end. */
  readonly starts: Uint32Array;
  /** Pairs of document and position, one per word. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** The most frequent term's words. */
  readonly most: number;
}

/**
 * From each word to the one of the same term before it. Built lazily and incrementally by the first
 * look-up of a term.
 */
class Links {
  #words = 0;
  #previous = new Uint32Array(0);
  /** By term, its last word. */
  #last = new Uint32Array(0);

  add(ofTerm: Uint32Array, words: number): void {
    if (words > this.#previous.length) this.#previous = enlarged(this.#previous, ofTerm.length);
    for (; this.#words < words; this.#words++) {
      const id = ofTerm[this.#words] as number;
      if (id >= this.#last.length) this.#last = enlarged(this.#last, 2 * (id + 1));
      this.#previous[this.#words] = this.#last[id] as number;
      this.#last[id] = this.#words;
    }
  }

  lastOf(id: number): number {
    return this.#last[id] as number;
  }

  before(word: number): number {
    return this.#previous[word] as number;
  }
}

/** Room for the postings of one term. */
class Postings {
  readonly documents: Uint32Array<ArrayBuffer>;
  readonly counts: Uint8Array<ArrayBuffer>;
  postings = 0;

  constructor(words: number) {
    this.documents = new Uint32Array(words);
    this.counts = new Uint8Array(words);
  }

  /**
   * Writes the words from `from` to `to`, grouped by document: the first position of each, then
   * deltas.
   */
  write(words: Uint32Array, from: number, to: number, into: ByteWriter): void {
    const bytes = into.reserve(MOST_POSITION_BYTES * (to - from));
    let at = into.length;
    let postings = 0;
    let count = 0;
    let current = -1;
    let previous = 0;
    for (let i = from; i < to; i++) {
      const document = words[2 * i] as number;
      if (document !== current) {
        current = document;
        count = 0;
        previous = 0;
        this.documents[postings++] = document;
      }
      if (count === MAX_TERM_COUNT) continue;
      this.counts[postings - 1] = ++count;
      const position = words[2 * i + 1] as number;
      at = putVarint(bytes, at, position - previous);
      previous = position;
    }
    into.wrote(at);
    this.postings = postings;
  }
}

/** A number of up to 31 bits, seven bits a byte. */
const MOST_POSITION_BYTES = 5;

function doubled(values: Uint32Array): Uint32Array<ArrayBuffer> {
  return enlarged(values, 2 * values.length);
}

function enlarged(values: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(values);
  return larger;
}

/** The places of documents in a list, ordered by their new numbers. */
function placesByNumber(documents: readonly number[], numbers: Uint32Array): Uint32Array {
  const number = (place: number) => numbers[documents[place] as number] as number;
  return Uint32Array.from(documents.keys()).sort((a, b) => number(a) - number(b));
}

interface Grouped {
  readonly documents: number[];
  readonly counts: number[];
  readonly positions: number[];
}

/** Words beyond the count cap are left out. */
function addWord({ documents, counts, positions }: Grouped, document: number, at: number): void {
  const last = documents.length - 1;
  if (documents[last] !== document) {
    documents.push(document);
    counts.push(1);
  } else if ((counts[last] as number) < MAX_TERM_COUNT) {
    counts[last] = (counts[last] as number) + 1;
  } else {
    return;
  }
  positions.push(at);
}

/** The index of the last value up to `limit`, searched from `from`. */
function lastAtMost(ascending: readonly number[], limit: number, from: number): number {
  let low = from;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((ascending[middle] as number) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
