/** How much of the query one passage covers, and the re-rank by it. */

import type { Placed } from "./rank.ts";

/** What a term counts for that only the message before or after a message has. */
export const NEARBY = 0.7;

/** Sessions that are ranked by it: the best by score. */
const MAX_SESSIONS = 20;

/**
 * Adds, to each of the best sessions, the share of the query that one of its passages covers, on the
 * scale of the best score: `score / best + weight * covered`, times `best`. Those behind them keep
 * their scores, which are lower.
 */
export function withCoverage(placed: readonly Placed[], weight: number): readonly Placed[] {
  if (weight === 0) return placed;
  const byScore = placed.toSorted((a, b) => b.score - a.score);
  const best = byScore[0]?.score ?? 0;
  const sessions = new Set<number>();
  return byScore.map((each) => {
    if (sessions.size < MAX_SESSIONS) sessions.add(each.session);
    if (!sessions.has(each.session)) return each;
    const coverage = weight * best * each.covered;
    return { ...each, score: each.score + coverage, parts: { ...each.parts, coverage } };
  });
}
