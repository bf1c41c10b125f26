/**
 * An arena of interned words: letters and number of each, in one array.
 *
 * A hundred thousand words as strings in a map would be as many objects for the garbage collector;
 * and a string sliced from a text may keep the whole text alive.
 */

/** The header: the number and the length, of two units each. */
const HEAD = 4;

export class WordRecords {
  /** Letters and numbers, in UTF-16 units. Reallocated by `add`. */
  units: Uint16Array<ArrayBuffer> = new Uint16Array(8_192);
  /** No record is at 0. */
  #length = 1;

  /** Adds the letters from `from` to `end`, and gives their record. */
  add(letters: Uint16Array, from: number, end: number, number: number): number {
    const start = this.#length;
    const length = end - from;
    this.#reserve(HEAD + length);
    const { units } = this;
    units[start] = number;
    units[start + 1] = number >>> 16;
    units[start + 2] = length;
    units[start + 3] = length >>> 16;
    for (let i = 0; i < length; i++) units[start + HEAD + i] = letters[from + i] as number;
    this.#length += HEAD + length;
    return start;
  }

  numberAt(start: number): number {
    return (this.units[start] as number) | ((this.units[start + 1] as number) << 16);
  }

  lengthAt(start: number): number {
    return (this.units[start + 2] as number) | ((this.units[start + 3] as number) << 16);
  }

  /** The start of a record's letters in `units`. */
  lettersAt(start: number): number {
    return start + HEAD;
  }

  /** Whether these letters are those of the record. */
  isAt(start: number, letters: Uint16Array, from: number, end: number): boolean {
    if (this.lengthAt(start) !== end - from) return false;
    const { units } = this;
    let at = start + HEAD;
    for (let i = from; i < end; i++) if (units[at++] !== letters[i]) return false;
    return true;
  }

  /** Whether the record begins with these letters. */
  startsWith(start: number, letters: Uint16Array): boolean {
    if (this.lengthAt(start) < letters.length) return false;
    const from = start + HEAD;
    for (let i = 0; i < letters.length; i++) if (this.units[from + i] !== letters[i]) return false;
    return true;
  }

  textAt(start: number): string {
    const from = start + HEAD;
    const end = from + this.lengthAt(start);
    let text = "";
    for (let i = from; i < end; i++) text += String.fromCharCode(this.units[i] as number);
    return text;
  }

  /** Negative if the first sorts before the second, by code unit. */
  compare(first: number, second: number): number {
    const { units } = this;
    const [a, b] = [first + HEAD, second + HEAD];
    const [left, right] = [this.lengthAt(first), this.lengthAt(second)];
    const shorter = Math.min(left, right);
    for (let i = 0; i < shorter; i++) {
      const difference = (units[a + i] as number) - (units[b + i] as number);
      if (difference !== 0) return difference;
    }
    return left - right;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.units.length) return;
    const larger = new Uint16Array(2 * (this.#length + more));
    larger.set(this.units);
    this.units = larger;
  }
}
