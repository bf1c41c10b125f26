export class BitSet {
  readonly #words: Uint32Array;

  constructor(size: number) {
    this.#words = new Uint32Array((size + 31) >>> 5);
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] as number) >>> (number & 31)) & 1) === 1;
  }

  /** Adds the numbers from `from` to `to` (not included). */
  addRange(from: number, to: number): void {
    for (let number = from; number < to; number++) {
      this.#words[number >>> 5] = (this.#words[number >>> 5] as number) | (1 << (number & 31));
    }
  }
}
