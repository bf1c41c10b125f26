/**
 * The number of repetitions of long tests.
 *
 * `npm test` repeats a kill, a cut or a property often enough to catch a regression; `npm run
 * stress` sets `BACKSCROLL_STRESS` and runs the same tests in full.
 */

export const isStress: boolean = process.env["BACKSCROLL_STRESS"] !== undefined;

/** The number of repetitions: `quick` in `npm test`, `full` in `npm run stress`. */
export function repeats(quick: number, full: number): number {
  return isStress ? full : quick;
}
