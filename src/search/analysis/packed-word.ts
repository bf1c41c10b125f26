/**
 * A word of up to 18 of the letters `a` to `z` as three numbers, five bits a letter.
 *
 * No letter is 0, so words of different lengths differ. One of these is filled anew for each word of
 * a text: an object for each would be garbage.
 */

import type { Folded } from "./fold.ts";

/** Of a packed word. */
export const MAX_PACKED_LENGTH = 18;

const LETTERS = 6;
const BITS = 5;
/** What `a` is 1 above. */
const BEFORE_A = 0x60;

export class PackedWord {
  first = 0;
  second = 0;
  third = 0;
  /** Where it stands, in whatever case. */
  text = "";
  from = 0;
  end = 0;

  /** Whether the letters from `from` to `end` are such a word. It holds it then. */
  set({ letters, text }: Folded, from: number, end: number): boolean {
    if (end - from > MAX_PACKED_LENGTH) return false;
    let [first, second, third] = [0, 0, 0];
    for (let i = from; i < end; i++) {
      const letter = (letters[i] as number) - BEFORE_A;
      if (letter < 1 || letter > 26) return false;
      if (i < from + LETTERS) first = (first << BITS) | letter;
      else if (i < from + 2 * LETTERS) second = (second << BITS) | letter;
      else third = (third << BITS) | letter;
    }
    this.first = first;
    this.second = second;
    this.third = third;
    this.text = text;
    this.from = from;
    this.end = end;
    return true;
  }

  toString(): string {
    return this.text.slice(this.from, this.end).toLowerCase();
  }
}
