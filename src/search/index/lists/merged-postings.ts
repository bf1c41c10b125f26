/**
 * The postings of a term in a merged segment, with new document numbers.
 *
 * They come source by source. Messages are ordered by session, and a session may span sources, so
 * the input is a sequence of *runs*: each ascends and is contiguous in the merged segment, but one
 * may belong before earlier ones. Runs are sorted at the end, only if needed.
 */

import { ByteWriter } from "../bytes.ts";

/** Below this many, a loop is faster than a view. */
const FEW = 32;

/** A document and a run's number in one number below 2^53. */
const MAX_RUNS = 2 ** 24;

export class MergedPostings {
  /** Ascending once sorted, like all of these: the first `count` are used. */
  documents: Uint32Array = new Uint32Array(64);
  counts: Uint8Array = new Uint8Array(64);
  count = 0;
  /** The positions of all postings, concatenated. */
  positions: ByteWriter = new ByteWriter();
  #otherDocuments: Uint32Array = new Uint32Array(64);
  #otherCounts: Uint8Array = new Uint8Array(64);
  #otherPositions = new ByteWriter();
  readonly #runs = new Runs();
  #isInOrder = true;

  /** Reserves capacity. Growing arrays would wait for garbage collection. */
  reserve(count: number): void {
    if (count <= this.documents.length) return;
    const size = Math.ceil(Math.max(count, GROWTH * this.documents.length));
    const { documents, counts } = this;
    this.documents = new Uint32Array(size);
    this.counts = new Uint8Array(size);
    this.documents.set(documents.subarray(0, this.count));
    this.counts.set(counts.subarray(0, this.count));
  }

  clear(): void {
    this.count = 0;
    this.positions.clear();
    this.#runs.count = 0;
    this.#isInOrder = true;
  }

  /** Records the postings from `from` to `to` as a run, with the positions between two offsets. */
  endRun(from: number, to: number, positionsFrom: number, positionsTo: number): void {
    if (from === to) return;
    this.count = to;
    const { documents } = this;
    const first = documents[from] as number;
    if (from > 0 && (documents[from - 1] as number) > first) this.#isInOrder = false;
    this.#runs.add(first, from, to, positionsFrom, positionsTo);
  }

  /** Positions outside of runs are not part of the merged list. */
  leaveOut(): void {
    this.#isInOrder = false;
  }

  /** To be called once, after the last run. */
  putInOrder(): void {
    if (this.#isInOrder) return;
    const size = this.documents.length;
    if (this.#otherDocuments.length < size) {
      this.#otherDocuments = new Uint32Array(size);
      this.#otherCounts = new Uint8Array(size);
    }
    const runs = this.#runs;
    const positions = this.#otherPositions;
    positions.clear();
    let filled = 0;
    for (let i = 0, order = runs.order(); i < order.length; i++) {
      const run = (order[i] as number) % MAX_RUNS;
      const from = runs.from[run] as number;
      const to = runs.to[run] as number;
      this.#copy(from, to, filled);
      filled += to - from;
      const positionsTo = runs.positionsTo[run] as number;
      positions.copy(this.positions.room, runs.positionsFrom[run] as number, positionsTo);
    }
    [this.documents, this.#otherDocuments] = [this.#otherDocuments, this.documents];
    [this.counts, this.#otherCounts] = [this.#otherCounts, this.counts];
    [this.positions, this.#otherPositions] = [positions, this.positions];
    this.count = filled;
  }

  #copy(from: number, to: number, at: number): void {
    if (to - from >= FEW) {
      this.#otherDocuments.set(this.documents.subarray(from, to), at);
      this.#otherCounts.set(this.counts.subarray(from, to), at);
      return;
    }
    const { documents, counts } = this;
    const shift = at - from;
    for (let i = from; i < to; i++) {
      this.#otherDocuments[i + shift] = documents[i] as number;
      this.#otherCounts[i + shift] = counts[i] as number;
    }
  }
}

/** The longest list has as many postings as there are messages. */
const GROWTH = 1.25;

/** Parallel arrays: an object per run would be garbage. */
class Runs {
  count = 0;
  from: Uint32Array = new Uint32Array(64);
  to: Uint32Array = new Uint32Array(64);
  positionsFrom: Uint32Array = new Uint32Array(64);
  positionsTo: Uint32Array = new Uint32Array(64);
  #keys = new Float64Array(64);

  add(first: number, from: number, to: number, positionsFrom: number, positionsTo: number): void {
    const at = this.count++;
    if (at === this.#keys.length) this.#grow();
    this.#keys[at] = first * MAX_RUNS + at;
    this.from[at] = from;
    this.to[at] = to;
    this.positionsFrom[at] = positionsFrom;
    this.positionsTo[at] = positionsTo;
  }

  /** Each value modulo `MAX_RUNS` is the run's number. */
  order(): Float64Array {
    return this.#keys.subarray(0, this.count).sort();
  }

  #grow(): void {
    const larger = (array: Uint32Array) => {
      const grown = new Uint32Array(2 * array.length);
      grown.set(array);
      return grown;
    };
    this.from = larger(this.from);
    this.to = larger(this.to);
    this.positionsFrom = larger(this.positionsFrom);
    this.positionsTo = larger(this.positionsTo);
    const keys = new Float64Array(2 * this.#keys.length);
    keys.set(this.#keys);
    this.#keys = keys;
  }
}
