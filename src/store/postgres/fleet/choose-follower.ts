/** Which follower may answer a read. Pure. */

export interface FollowerState {
  /** It answered the last time that it was asked. */
  readonly isThere: boolean;
  /** How late it is, in milliseconds. */
  readonly lagMs: number;
}

/** A follower that is later than this answers nothing: its lists would be too old. */
export const MAX_LAG_MS = 10_000;

/** Followers that may answer take turns. Gives the index of one, or undefined: then the primary does. */
export function chooseFollower(states: readonly FollowerState[], turn: number): number | undefined {
  const usable = states.flatMap((state, i) =>
    state.isThere && state.lagMs <= MAX_LAG_MS ? [i] : [],
  );
  return usable[turn % usable.length];
}
