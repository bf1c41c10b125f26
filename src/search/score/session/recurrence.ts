/** What a session says of the query beyond its best passage. */

import type { ScoredSession } from "./session-scores.ts";

/** Passages that the depth of a session is measured by: the best ones. */
const DEPTH_PASSAGES = 10;

export interface Recurrence {
  /** The scores of all passages together. */
  readonly sum: number;
  /** The mean score of the ten best passages, 0 for each that the session lacks. */
  readonly depth: number;
}

/** Without what tools gave back: a long output would say that the session is about it. */
export function recurrenceOf(
  { count, scores, passages, outputs, roles }: ScoredSession,
  roleWeights: Float64Array,
): Recurrence {
  // Ascending, so that the first is the one that a better passage replaces.
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

/** Drops the least of them. */
function insert(ascending: Float64Array, score: number): void {
  let at = 0;
  while (at + 1 < ascending.length && (ascending[at + 1] as number) < score) {
    ascending[at] = ascending[at + 1] as number;
    at++;
  }
  ascending[at] = score;
}
