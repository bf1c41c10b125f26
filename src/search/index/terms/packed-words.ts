/**
 * Which number a short word of plain letters has. Most words of most texts are such.
 *
 * The letters themselves are the key, five bits each: a look-up reads one place in memory, where
 * comparing the letters one by one would read two that are far apart.
 */

import type { PackedWord } from "../../analysis/packed-word.ts";
import { UNKNOWN_WORD } from "./word-table.ts";

/** The three parts of the word, and its number plus one. 0: there is nobody. */
const PLACE = 4;
const FIRST_BITS = 11;

/** Others in each process: nobody can write words that all fall on one place. */
const [A, B, C] = Array.from({ length: 3 }, () => Math.floor(Math.random() * 2 ** 31) * 2 + 1) as [
  number,
  number,
  number,
];

export class PackedWords {
  #bits = FIRST_BITS;
  #places = new Int32Array(PLACE << FIRST_BITS);
  #words = 0;
  /** Where the word belongs that was not found last. */
  #free = 0;

  get size(): number {
    return this.#words;
  }

  /** What it takes in memory. */
  get bytes(): number {
    return this.#places.byteLength;
  }

  /** The number of a word, or `UNKNOWN_WORD`. */
  find(word: PackedWord): number {
    const { first, second, third } = word;
    const places = this.#places;
    const last = places.length - PLACE;
    for (let at = placeOf(first, second, third, this.#bits); ; at = at === last ? 0 : at + PLACE) {
      const number = places[at + 3] as number;
      if (number === 0) {
        this.#free = at;
        return UNKNOWN_WORD;
      }
      if (places[at] === first && places[at + 1] === second && places[at + 2] === third) {
        return number - 1;
      }
    }
  }

  /** Adds the word that `find` has just not found. */
  add({ first, second, third }: PackedWord, number: number): void {
    const at = this.#free;
    this.#places[at] = first;
    this.#places[at + 1] = second;
    this.#places[at + 2] = third;
    this.#places[at + 3] = number + 1;
    this.#words++;
    if (4 * this.#words >= 3 << this.#bits) this.#grow();
  }

  /** At most three quarters of the places are taken: four of them lie together in memory. */
  #grow(): void {
    const old = this.#places;
    this.#bits++;
    const places = new Int32Array(PLACE << this.#bits);
    const last = places.length - PLACE;
    for (let from = 0; from < old.length; from += PLACE) {
      const [first, second, third] = [old[from], old[from + 1], old[from + 2]] as [
        number,
        number,
        number,
      ];
      const number = old[from + 3] as number;
      if (number === 0) continue;
      let at = placeOf(first, second, third, this.#bits);
      while (places[at + 3] !== 0) at = at === last ? 0 : at + PLACE;
      places[at] = first;
      places[at + 1] = second;
      places[at + 2] = third;
      places[at + 3] = number;
    }
    this.#places = places;
  }
}

/** The high bits of a sum of products with random odd numbers: two words rarely have them alike. */
function placeOf(first: number, second: number, third: number, bits: number): number {
  const sum = Math.imul(first, A) + Math.imul(second, B) + Math.imul(third, C);
  return ((sum | 0) >>> (32 - bits)) * PLACE;
}
