/**
 * How far a follower is behind its primary, from samples of both. Pure: the caller has the clock.
 *
 * A sample is the sum of all feed positions, which every change raises. A follower lags since the
 * oldest sample of the primary that it has not reached. Needs nothing of the kind of replication.
 */

/** Samples beyond this many say nothing new: a follower that far behind is not used. */
const MAX_SAMPLES = 600;

export interface FollowerLag {
  /** Changes of all tenants that the follower does not have yet. */
  readonly changes: number;
  /** Since when it lacks the oldest of them, in milliseconds. */
  readonly ms: number;
}

export class LagMeter {
  #unreached: { readonly at: number; readonly sum: number }[] = [];
  #primary = 0;
  #follower = 0;

  samplePrimary(at: number, sum: number): void {
    this.#primary = sum;
    if (sum > this.#follower && this.#unreached.at(-1)?.sum !== sum) {
      this.#unreached.push({ at, sum });
      // The oldest says how late the follower is.
      if (this.#unreached.length > MAX_SAMPLES) this.#unreached.splice(1, 1);
    }
  }

  sampleFollower(sum: number): void {
    this.#follower = sum;
    this.#unreached = this.#unreached.filter((sample) => sample.sum > sum);
  }

  lag(now: number): FollowerLag {
    const [oldest] = this.#unreached;
    return {
      changes: Math.max(0, this.#primary - this.#follower),
      ms: oldest === undefined ? 0 : now - oldest.at,
    };
  }
}
