/**
 * Replication lag of a follower, from samples of it and its primary. Pure: the caller has the clock.
 *
 * A sample is the sum of all feed positions, which every change increments. The lag is the age of
 * the primary's oldest sample that the follower has not reached, whatever the kind of replication.
 */

/** The limit of samples: a follower further behind is not used. */
const MAX_SAMPLES = 600;

export interface FollowerLag {
  /** Changes of all tenants that the follower lacks. */
  readonly changes: number;
  /** How long it has lacked the oldest of them. */
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
      // Keeps the oldest, which determines the lag.
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
