/** Load balancing of reads over followers. Pure. */

export interface FollowerState {
  /** It answered the last probe. */
  readonly isThere: boolean;
  /** Its lag in milliseconds. */
  readonly lagMs: number;
}

/** A follower with more lag gets no reads. */
export const MAX_LAG_MS = 10_000;

/** Round robin over usable followers. Gives an index; undefined: use the primary. */
export function chooseFollower(states: readonly FollowerState[], turn: number): number | undefined {
  const usable = states.flatMap((state, i) =>
    state.isThere && state.lagMs <= MAX_LAG_MS ? [i] : [],
  );
  return usable[turn % usable.length];
}
