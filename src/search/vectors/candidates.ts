/**
 * A bounded top-k of a scan by lazy selection: a buffer of 2k estimates that is cut to the k
 * largest when it is full. Two columns, without an object per candidate.
 */

export class Candidates {
  readonly #room: number;
  readonly #estimates: Float32Array;
  readonly #places: Uint32Array;
  #count = 0;
  /** Only larger estimates are candidates. */
  threshold: number = Number.NEGATIVE_INFINITY;

  constructor(room: number) {
    this.#room = room;
    this.#estimates = new Float32Array(2 * room);
    this.#places = new Uint32Array(2 * room);
  }

  /** `estimate` is above the threshold. */
  add(estimate: number, place: number): void {
    this.#estimates[this.#count] = estimate;
    this.#places[this.#count] = place;
    this.#count++;
    if (this.#count === this.#estimates.length) this.#cut();
  }

  /** The places of the `room` largest, or of all if there are fewer. */
  places(): Uint32Array {
    if (this.#count > this.#room) this.#cut();
    return this.#places.subarray(0, this.#count);
  }

  /** Keeps the `room` largest; of equal estimates the first. */
  #cut(): void {
    const [estimates, places] = [this.#estimates, this.#places];
    const sorted = estimates.slice(0, this.#count).sort();
    const threshold = sorted[this.#count - this.#room] as number;
    let equal = this.#room;
    for (let i = sorted.length - 1; (sorted[i] as number) > threshold; i--) equal--;
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      const estimate = estimates[i] as number;
      if (estimate < threshold || (estimate === threshold && equal-- <= 0)) continue;
      estimates[kept] = estimate;
      places[kept] = places[i] as number;
      kept++;
    }
    this.#count = kept;
    this.threshold = threshold;
  }
}
