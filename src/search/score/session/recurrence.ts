/** Recurrence and depth: scores of a session beyond its best passage. */

import type { ScoredSession } from "./session-scores.ts";

/** The number of best passages whose mean is the depth of a session. */
const DEPTH_PASSAGES = 10;

export interface Recurrence {
  /** The scores of all passages together. */
  readonly sum: number;
  /** The mean score of the ten best passages, 0 for each that the session lacks. */
  readonly depth: number;
}

/** Ignores tool outputs: one long output would dominate a session. */
export function recurrenceOf(
  { count, scores, passages, outputs, roles }: ScoredSession,
  roleWeights: Float64Array,
): Recurrence {
  // Ascending: a better passage replaces the first.
  const best = new Float64Array(DEPTH_PASSAGES);
  let sum = 0;
  for (let place = 0; place < count; place++) {
    if (scores[place] === outputs[place]) continue;
    const said = (passages[place] as number) - (outputs[place] as number);
    const score = said * (roleWeights[roles[place] as number] as number);
    sum += score;
    if (score > (best[0] as number)) insert(best, score);
  }
  return { sum, depth: best.reduce((total, score) => total + score, 0) / DEPTH_PASSAGES };
}

/** Replaces the smallest score. */
function insert(ascending: Float64Array, score: number): void {
  let at = 0;
  while (at + 1 < ascending.length && (ascending[at + 1] as number) < score) {
    ascending[at] = ascending[at + 1] as number;
    at++;
  }
  ascending[at] = score;
}
