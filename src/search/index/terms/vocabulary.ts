/**
 * The terms that a field has met, numbered in the order in which they came.
 *
 * Several fields may share one, one after another: segments that are built in a row have most of
 * their words in common, and then no word has to be cut out and stemmed again for each.
 */

import { sortKey, sortTerms } from "./sort-terms.ts";
import { UNKNOWN_WORD, WordTable } from "./word-table.ts";

export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  /** The terms of words as they are written. */
  readonly #words = new WordTable();
  /** What each term is sorted by. */
  #keys = new Float64Array(1_024);

  get size(): number {
    return this.#terms.length;
  }

  find(term: string): number | undefined {
    return this.#ids.get(term);
  }

  idOf(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const id = this.#terms.push(term) - 1;
    this.#ids.set(term, id);
    if (id === this.#keys.length) {
      const larger = new Float64Array(2 * id);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    this.#keys[id] = sortKey(term);
    return id;
  }

  /** The term of the word from `from` to `end`. `stem` makes it, and is the same every time. */
  idOfWord(text: string, from: number, end: number, stem: (word: string) => string): number {
    const known = this.#words.find(text, from, end);
    if (known !== UNKNOWN_WORD) return known;
    const id = this.idOf(stem(text.slice(from, end)));
    this.#words.add(text, from, end, id);
    return id;
  }

  term(id: number): string {
    return this.#terms[id] as string;
  }

  /** Some numbers, in the order in which a dictionary has their terms. */
  sort(ids: readonly number[]): Uint32Array {
    return sortTerms(ids, this.#terms, this.#keys);
  }
}
