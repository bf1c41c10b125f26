/**
 * Which number a word of a text has, found by its letters.
 *
 * A text repeats its words. Cutting each one out as a string, so that a map can find it, takes
 * longer than all else that is done with it; here the letters are compared where they stand.
 */

/** What `find` gives for a word that was never added. */
export const UNKNOWN_WORD = -1;

/**
 * A place of the table holds the word's hash, where its letters begin, how many they are, and its
 * number plus one, side by side: memory is what a look-up waits for. 0 as a number: nobody is there.
 */
const PLACE = 4;
const FIRST_PLACES = 2_048;
/** Another one in each process: nobody can write words that all fall on one place. */
const SEED = Math.floor(Math.random() * 2 ** 31);

export class WordTable {
  #places = new Int32Array(PLACE * FIRST_PLACES);
  #letters = new Uint16Array(4 * FIRST_PLACES);
  #words = 0;
  #letterCount = 0;
  /** Of the word that was looked for last. */
  #hash = 0;

  /** The number of the word from `from` to `end`, or `UNKNOWN_WORD`. */
  find(text: string, from: number, end: number): number {
    let hash = SEED ^ (end - from);
    for (let i = from; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash ^= hash >>> 15;
    this.#hash = hash;
    const places = this.#places;
    const mask = places.length - 1;
    for (let at = (hash * PLACE) & mask; ; at = (at + PLACE) & mask) {
      const number = places[at + 3] as number;
      if (number === 0) return UNKNOWN_WORD;
      if (places[at] === hash && places[at + 2] === end - from) {
        if (this.#isAt(places[at + 1] as number, text, from, end)) return number - 1;
      }
    }
  }

  /** Adds the word that `find` has just not found. */
  add(text: string, from: number, end: number, number: number): void {
    this.#reserve(end - from);
    const start = this.#letterCount;
    for (let i = from; i < end; i++) this.#letters[this.#letterCount++] = text.charCodeAt(i);
    this.#place(this.#hash, start, end - from, number + 1);
    this.#words++;
  }

  #isAt(start: number, text: string, from: number, end: number): boolean {
    const letters = this.#letters;
    let at = start;
    for (let i = from; i < end; i++) if (letters[at++] !== text.charCodeAt(i)) return false;
    return true;
  }

  #place(hash: number, start: number, length: number, value: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = (hash * PLACE) & mask;
    while (places[at + 3] !== 0) at = (at + PLACE) & mask;
    places[at] = hash;
    places[at + 1] = start;
    places[at + 2] = length;
    places[at + 3] = value;
  }

  /** Room for one more word. At most half of the places are taken. */
  #reserve(letters: number): void {
    if (this.#letterCount + letters > this.#letters.length) {
      const larger = new Uint16Array(2 * (this.#letterCount + letters));
      larger.set(this.#letters);
      this.#letters = larger;
    }
    const old = this.#places;
    if (2 * PLACE * this.#words < old.length) return;
    this.#places = new Int32Array(2 * old.length);
    for (let at = 0; at < old.length; at += PLACE) {
      const value = old[at + 3] as number;
      if (value === 0) continue;
      this.#place(old[at] as number, old[at + 1] as number, old[at + 2] as number, value);
    }
  }
}
