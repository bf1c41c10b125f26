/** Scores messages as the middle of a passage: with the message before and after each. */

import { type LengthNorm, termGain } from "./bm25.ts";
import { NEARBY } from "./coverage.ts";

/** How a message is scored with its neighbours. */
export interface Passage {
  /** The weight of a neighbour's words and length; 0: the message alone. */
  readonly neighbours: number;
  readonly norm: LengthNorm;
  /** Whether to compute coverage. */
  readonly covers: boolean;
}

const NOTHING = new Float64Array(0);
const NO_PLACES = new Int32Array(0);
/** The distance of a term from a place. */
const [NEAR, HERE] = [1, 2] as const;
/** The covered share of a term, by distance. */
const SHARES: readonly number[] = [0, NEARBY, 1];

/**
 * BM25 of every message as the middle of a passage: its neighbours' words and lengths count in
 * part. The frequencies of one term are summed first, because the gain is not linear.
 *
 * A message without text is skipped: the messages around it are neighbours of each other. A tool
 * result usually has text, the tool's name, and is then an ordinary neighbour.
 */
export class PassageScores {
  readonly #passage: Passage;
  #lengths: Float64Array = NOTHING;
  #size = 0;
  #scores: Float64Array = NOTHING;
  #counts: Float64Array = NOTHING;
  /** The weights of the terms in each passage. */
  #covered: Float64Array = NOTHING;
  /** The covered weights without tool outputs. */
  #said: Float64Array = NOTHING;
  #levels = new Uint8Array(0);
  #saidLevels = new Uint8Array(0);
  /** The nearest places with text; -1: none. */
  #before: Int32Array = NO_PLACES;
  #after: Int32Array = NO_PLACES;
  readonly #touched: number[] = [];

  constructor(passage: Passage) {
    this.#passage = passage;
  }

  /** Resets for other messages: the first `size` of `lengths` are used. */
  begin(lengths: Float64Array, size: number): void {
    if (!this.#isNeeded()) return;
    this.#lengths = lengths;
    this.#size = size;
    if (size > this.#scores.length) {
      const room = Math.max(256, 2 * size);
      this.#scores = new Float64Array(room);
      this.#counts = new Float64Array(room);
      this.#covered = new Float64Array(room);
      this.#said = new Float64Array(room);
      this.#levels = new Uint8Array(room);
      this.#saidLevels = new Uint8Array(room);
      this.#before = new Int32Array(room);
      this.#after = new Int32Array(room);
    }
    this.#scores.fill(0, 0, size);
    this.#covered.fill(0, 0, size);
    this.#said.fill(0, 0, size);
    for (let place = 0, last = -1; place < size; place++) {
      this.#before[place] = last;
      if ((lengths[place] as number) > 0) last = place;
    }
    for (let place = size - 1, next = -1; place >= 0; place--) {
      this.#after[place] = next;
      if ((lengths[place] as number) > 0) next = place;
    }
  }

  /** The term's frequency in the text at `place`. */
  add(place: number, count: number): void {
    if (!this.#isNeeded()) return;
    const { neighbours } = this.#passage;
    const [before, after] = [this.#before[place] as number, this.#after[place] as number];
    this.#say(place, count, HERE);
    if (before >= 0) this.#say(before, neighbours * count, NEAR);
    if (after >= 0) this.#say(after, neighbours * count, NEAR);
  }

  /** A tool output at `place` has the term: it counts for coverage, not for the passage's score. */
  addOutput(place: number): void {
    if (!this.#passage.covers) return;
    this.#touch(place, HERE);
    const before = this.#before[place] as number;
    // A call's result follows it.
    if (this.#lengths[place] === 0 && before >= 0) this.#touch(before, NEAR);
  }

  /** A special term of the message at `place`. */
  addMark(place: number): void {
    this.#say(place, 0, HERE);
    const [before, after] = [this.#before[place] as number, this.#after[place] as number];
    if (before >= 0) this.#say(before, 0, NEAR);
    if (after >= 0) this.#say(after, 0, NEAR);
  }

  /** `cover` is the term's coverage weight. */
  endTerm(weight: number, cover: number): void {
    const { norm } = this.#passage;
    for (const place of this.#touched) {
      const count = this.#counts[place] as number;
      if (count > 0) {
        const gain = weight * termGain(norm, count, this.#length(place));
        this.#scores[place] = (this.#scores[place] as number) + gain;
      }
      const share = SHARES[this.#levels[place] as number] as number;
      const said = SHARES[this.#saidLevels[place] as number] as number;
      this.#covered[place] = (this.#covered[place] as number) + share * cover;
      this.#said[place] = (this.#said[place] as number) + said * cover;
      this.#counts[place] = 0;
      this.#levels[place] = 0;
      this.#saidLevels[place] = 0;
    }
    this.#touched.length = 0;
  }

  /** `own` are the messages' own scores. */
  scores(own: Float64Array): Float64Array {
    return this.#passage.neighbours === 0 ? own : this.#scores;
  }

  /** The largest coverage of the query by one passage. */
  mostCovered(): number {
    return largest(this.#covered, this.#size);
  }

  /** As `mostCovered`, without tool outputs. */
  mostSaid(): number {
    return largest(this.#said, this.#size);
  }

  #isNeeded(): boolean {
    return this.#passage.neighbours > 0 || this.#passage.covers;
  }

  #say(place: number, count: number, level: number): void {
    this.#touch(place, level);
    if (level > (this.#saidLevels[place] as number)) this.#saidLevels[place] = level;
    this.#counts[place] = (this.#counts[place] as number) + count;
  }

  #touch(place: number, level: number): void {
    const known = this.#levels[place] as number;
    if (known === 0) this.#touched.push(place);
    if (level > known) this.#levels[place] = level;
  }

  /** Scaled to one message, so that messages and passages share an average length. */
  #length(place: number): number {
    const { neighbours } = this.#passage;
    const lengths = this.#lengths;
    const before = this.#before[place] as number;
    const after = this.#after[place] as number;
    const around =
      (before >= 0 ? (lengths[before] as number) : 0) +
      (after >= 0 ? (lengths[after] as number) : 0);
    return ((lengths[place] as number) + neighbours * around) / (1 + 2 * neighbours);
  }
}

function largest(values: Float64Array, size: number): number {
  let most = 0;
  for (let i = 0; i < size; i++) most = Math.max(most, values[i] as number);
  return most;
}
