/**
 * Pseudo-random numbers, the same in each run of `npm test`.
 *
 * `npm run fuzz` sets `BACKSCROLL_SEED` to another number in each round, and prints it on a failure.
 */

/** The seed of the run. */
export const SEED: number = Number(process.env["BACKSCROLL_SEED"] ?? 20_261_116);

/** mulberry32: numbers from 0 to 1, deterministic by seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
