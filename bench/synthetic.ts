/** Synthetic conversations, deterministic by seed. */

/** Numbers from 0 to 1 (mulberry32): small, fast, and good enough for text. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SYLLABLES =
  "ba be bi bo bu da de di do du fa fe ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si so ta te ti to va ve vi zo".split(
    " ",
  );

export class Words {
  readonly #random: () => number;
  readonly #vocabulary: string[];

  constructor(seed: number, vocabulary = 5_000) {
    this.#random = randomNumbers(seed);
    this.#vocabulary = Array.from({ length: vocabulary }, () => this.#word());
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Words by a skewed distribution, as in real text. */
  text(words: number): string {
    const size = this.#vocabulary.length;
    const chosen = Array.from(
      { length: words },
      () => this.#vocabulary[Math.floor(size * this.#random() ** 3)],
    );
    return chosen.join(" ");
  }

  #word(): string {
    const length = 1 + this.below(4);
    return Array.from({ length }, () => SYLLABLES[this.below(SYLLABLES.length)]).join("");
  }
}
