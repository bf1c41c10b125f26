/** Boosts of sessions by title, summary and searchable facts. */

import { SESSION_FIELDS } from "../index/layout.ts";
import type { View } from "../snapshot.ts";
import { scoreKeyed } from "./keyed-scores.ts";
import type { RankingProfile } from "./profile.ts";
import type { QueryTerm } from "./query-terms.ts";

/** By session number. Undefined if a blob is missing. */
export function findBoosts(
  views: readonly View[],
  terms: readonly QueryTerm[],
  profile: RankingProfile,
  isInScope: (session: number) => boolean,
): Map<number, number> | undefined {
  const boosts = new Map<number, number>();
  let isComplete = true;
  for (const field of SESSION_FIELDS) {
    if (profile[field] === 0) continue;
    const scores = scoreKeyed(views, field, terms, profile.bm25);
    if (scores === undefined) isComplete = false;
    for (const [i, own] of scores?.entries() ?? []) {
      const keys = (views[i] as View).source.sessionKeys();
      if (keys === undefined) return undefined;
      for (const [document, score] of own) {
        const session = keys[document] as number;
        if (!isInScope(session)) continue;
        boosts.set(session, (boosts.get(session) ?? 0) + profile[field] * score);
      }
    }
  }
  return isComplete ? boosts : undefined;
}
