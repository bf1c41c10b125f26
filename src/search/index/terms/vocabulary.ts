/**
 * The terms that a field has met, numbered in the order in which they came.
 *
 * Several fields may share one, one after another: segments that are built in a row have most of
 * their words in common, and then no word has to be cut out, stemmed and sorted again for each.
 */

import { TermOrder } from "./term-order.ts";
import { UNKNOWN_WORD, WordTable } from "./word-table.ts";

export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  /** The terms of words as they are written. */
  readonly #words = new WordTable();
  readonly #order = new TermOrder();

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

  /** All numbers, in the order of a dictionary. */
  sorted(): Uint32Array {
    return this.#order.sort(this.#terms);
  }
}
