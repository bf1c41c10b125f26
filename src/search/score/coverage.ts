/** How much of the query one passage covers, and the re-rank by it. */

import type { WeightedTerm } from "./message-pass.ts";

/** Weight of a term that only the message before or after has. */
export const NEARBY = 0.7;

/** Weight of the parts of an identifier without the identifier itself. */
const PARTS = 0.7;

/**
 * A query was said if one passage has this share of it, whatever tools gave back. Outputs that have it
 * too are then mostly echoes, such as a log that lists the subject of a commit.
 */
export const SAID = 0.95;

/** Factor of outputs for a query that messages contain, and for one that outputs have verbatim. */
export const ECHO = 0.1;

/** Sessions that are ranked by it: the best by score. */
const MAX_SESSIONS = 20;

/**
 * What each term counts for among those that a passage should have: its idf. Words count as they are
 * rare, and stop-words as well: here, unlike in the score, one that is missing costs something. An
 * identifier counts as much as its parts, and is not covered by them alone.
 */
export function coverWeights(terms: readonly WeightedTerm[]): Float64Array {
  const covers = new Float64Array(terms.length);
  const indexes = new Map(terms.map(({ term }, i) => [term.label, i]));
  for (const [i, { term, weight }] of terms.entries()) {
    if (term.isPiece !== true || term.weight === 0) continue;
    const idf = weight / term.weight;
    const whole = term.whole === undefined ? undefined : indexes.get(term.whole);
    covers[i] = (covers[i] as number) + (whole === undefined ? idf : PARTS * idf);
    if (whole !== undefined) covers[whole] = (covers[whole] as number) + (1 - PARTS) * idf;
  }
  return covers;
}

/** The fields of a ranked message that the re-rank reads and changes. */
export interface Covered {
  readonly session: number;
  readonly score: number;
  readonly parts: { readonly coverage: number };
  /** The share of the query, by weight, that the best passage of the session has: 0 to 1. */
  readonly covered: number;
}

/** The sessions that are ranked by coverage. */
export function bestSessions(placed: readonly Covered[]): ReadonlySet<number> {
  const sessions = new Set<number>();
  for (const { session } of placed.toSorted((a, b) => b.score - a.score)) {
    if (sessions.size === MAX_SESSIONS) break;
    sessions.add(session);
  }
  return sessions;
}

/**
 * Adds, to each of the best `sessions`, the share of the query that one of its passages covers, on the
 * scale of the best score: `score / best + weight * covered + gain`, times `best`. Those behind them
 * keep their scores, which are lower. `gains` has what a session gains by the order of its words.
 */
export function withCoverage<Hit extends Covered>(
  placed: readonly Hit[],
  sessions: ReadonlySet<number>,
  weight: number,
  gains: ReadonlyMap<number, number>,
): readonly Hit[] {
  if (weight === 0 && gains.size === 0) return placed;
  const best = placed.reduce((most, { score }) => Math.max(most, score), 0);
  return placed.map((each) => {
    if (!sessions.has(each.session)) return each;
    const coverage = best * (weight * each.covered + (gains.get(each.session) ?? 0));
    return { ...each, score: each.score + coverage, parts: { ...each.parts, coverage } };
  });
}
