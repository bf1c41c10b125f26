/**
 * String interning: the terms of a field, numbered in order of arrival.
 *
 * Fields of consecutive segments share one: they have most words in common, so no word has to be
 * sliced, stemmed and sorted again.
 */

import type { Folded } from "../../analysis/fold.ts";
import { joinSorted, sortKey, sortTerms } from "./sort-terms.ts";
import type { TermBytes } from "./term-bytes.ts";
import { WordRecords } from "./word-records.ts";
import { UNKNOWN_WORD, WordTable } from "./word-table.ts";

export class Vocabulary {
  readonly #records = new WordRecords();
  /** Written words, and terms: a word that equals its term has one record. */
  readonly #words = new WordTable(this.#records);
  readonly #terms = new WordTable(this.#records);
  /** By term: its record and its sort key. */
  #recordOf = new Uint32Array(1_024);
  #keys = new Float64Array(1_024);
  #size = 0;
  /** The sorted terms as of the last request. */
  #order: Uint32Array = new Uint32Array(0);
  /** Per term, its rank in that order. */
  #ranks: Uint32Array = new Uint32Array(0);
  #letters = new Uint16Array(64);

  /** How many terms there are. */
  get size(): number {
    return this.#size;
  }

  /** How many words and terms it remembers. */
  get entries(): number {
    return this.#words.size + this.#terms.size;
  }

  /** Approximate size in memory: letters and hash table. */
  get bytes(): number {
    const others = this.#words.size + this.#terms.size;
    return 2 * this.#records.units.length + 24 * others;
  }

  find(term: string): number | undefined {
    const id = this.#terms.find(this.#lettersOf(term), 0, term.length);
    return id === UNKNOWN_WORD ? undefined : id;
  }

  idOf(term: string): number {
    const letters = this.#lettersOf(term);
    const known = this.#terms.find(letters, 0, term.length);
    if (known !== UNKNOWN_WORD) return known;
    const id = this.#size;
    const record = this.#records.add(letters, 0, term.length, id);
    this.#terms.add(record);
    this.#reserve();
    this.#recordOf[id] = record;
    this.#keys[id] = sortKey(letters, term.length);
    this.#size++;
    return id;
  }

  /** The term of the word from `from` to `end`. `stem` computes it, deterministically. */
  idOfWord(folded: Folded, from: number, end: number, stem: (word: string) => string): number {
    const { letters } = folded;
    const known = this.#words.find(letters, from, end);
    if (known !== UNKNOWN_WORD) return known;
    const id = this.idOf(stem(folded.text.slice(from, end)));
    const own = this.#recordOf[id] as number;
    const isOwn = this.#records.isAt(own, letters, from, end);
    this.#words.add(isOwn ? own : this.#records.add(letters, from, end, id));
    return id;
  }

  /** The terms with the prefix, in order of arrival. */
  *withPrefix(prefix: string): Iterable<number> {
    const letters = this.#lettersOf(prefix).slice(0, prefix.length);
    for (let id = 0; id < this.#size; id++) {
      if (this.#records.startsWith(this.#recordOf[id] as number, letters)) yield id;
    }
  }

  term(id: number): string {
    return this.#records.textAt(this.#recordOf[id] as number);
  }

  copyTerm(id: number, into: TermBytes): void {
    const record = this.#recordOf[id] as number;
    const from = this.#records.lettersAt(record);
    into.setLetters(this.#records.units, from, from + this.#records.lengthAt(record));
  }

  /** Sorts distinct terms into dictionary order. */
  sort(ids: Uint32Array): void {
    this.#rank();
    const order = this.#order;
    const ranks = this.#ranks;
    // A bitmap of ranks: iterating over it is faster than sorting.
    const marks = new Uint32Array((order.length + 31) >>> 5);
    for (let i = 0; i < ids.length; i++) {
      const rank = ranks[ids[i] as number] as number;
      marks[rank >>> 5] = (marks[rank >>> 5] as number) | (1 << (rank & 31));
    }
    let at = 0;
    for (let word = 0; word < marks.length; word++) {
      for (let rest = marks[word] as number; rest !== 0; ) {
        const low = rest & -rest;
        ids[at++] = order[(word << 5) + 31 - Math.clz32(low)] as number;
        rest ^= low;
      }
    }
  }

  /** Ranks the terms added since the last time. */
  #rank(): void {
    const known = this.#order.length;
    if (known === this.#size) return;
    const compare = (a: number, b: number) =>
      this.#records.compare(this.#recordOf[a] as number, this.#recordOf[b] as number);
    const added = sortTerms(known, this.#size, this.#keys, compare);
    const order = joinSorted(this.#order, added, this.#keys, compare);
    if (this.#ranks.length < this.#size) this.#ranks = new Uint32Array(this.#keys.length);
    const ranks = this.#ranks;
    for (let i = 0; i < order.length; i++) ranks[order[i] as number] = i;
    this.#order = order;
  }

  #lettersOf(term: string): Uint16Array {
    if (term.length > this.#letters.length) this.#letters = new Uint16Array(2 * term.length);
    for (let i = 0; i < term.length; i++) this.#letters[i] = term.charCodeAt(i);
    return this.#letters;
  }

  #reserve(): void {
    if (this.#size < this.#keys.length) return;
    const keys = new Float64Array(2 * this.#size);
    keys.set(this.#keys);
    this.#keys = keys;
    const records = new Uint32Array(2 * this.#size);
    records.set(this.#recordOf);
    this.#recordOf = records;
  }
}
