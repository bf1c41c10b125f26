/**
 * A hash table from the letters of a word to its number, with open addressing.
 *
 * A text repeats its words. Slicing each one as a string for a map look-up would dominate; here the
 * letters are compared in place.
 */

import type { WordRecords } from "./word-records.ts";

/** The result of `find` for a word that was never added. */
export const UNKNOWN_WORD = -1;

/**
 * Numbers per slot: the word's hash and its record's offset, side by side for one cache miss.
 * Offset 0: empty.
 */
const PLACE = 2;
const FIRST_PLACES = 2_048;
/** Random per process, against hash flooding. */
const SEED = Math.floor(Math.random() * 2 ** 31);

export class WordTable {
  readonly #records: WordRecords;
  #places = new Int32Array(PLACE * FIRST_PLACES);
  #words = 0;
  /** The hash of the last look-up. */
  #hash = 0;

  constructor(records: WordRecords) {
    this.#records = records;
  }

  get size(): number {
    return this.#words;
  }

  /** The number of the word from `from` to `end`, or `UNKNOWN_WORD`. */
  find(letters: Uint16Array, from: number, end: number): number {
    let hash = SEED ^ (end - from);
    for (let i = from; i < end; i++) hash = Math.imul(hash ^ (letters[i] as number), 0x01000193);
    hash ^= hash >>> 15;
    this.#hash = hash;
    const records = this.#records;
    const places = this.#places;
    const mask = places.length - 1;
    for (let at = (hash << 1) & mask; ; at = (at + PLACE) & mask) {
      const start = places[at + 1] as number;
      if (start === 0) return UNKNOWN_WORD;
      if (places[at] === hash && records.isAt(start, letters, from, end)) {
        return records.numberAt(start);
      }
    }
  }

  /** Adds the word that `find` has just missed. Its record has its number. */
  add(record: number): void {
    if (2 * PLACE * this.#words >= this.#places.length) this.#grow();
    this.#place(this.#hash, record);
    this.#words++;
  }

  #place(hash: number, record: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = (hash << 1) & mask;
    while (places[at + 1] !== 0) at = (at + PLACE) & mask;
    places[at] = hash;
    places[at + 1] = record;
  }

  /** The load factor is at most one half. */
  #grow(): void {
    const old = this.#places;
    this.#places = new Int32Array(2 * old.length);
    for (let at = 0; at < old.length; at += PLACE) {
      if (old[at + 1] !== 0) this.#place(old[at] as number, old[at + 1] as number);
    }
  }
}
