import type { Placed } from "../rank.ts";
import { dialogueShare, SAMPLED_SESSIONS } from "./dialogue-share.ts";

/**
 * Adds the depth of each session to its score, times the share of talk among the best sessions
 * before. A path, an error or an identifier is in one tool call or output, so a session that
 * repeats its words is no better an answer.
 */
export function withDepth(placed: readonly Placed[]): readonly Placed[] {
  if (placed.every(({ depth }) => depth === 0)) return placed;
  const share = dialogueShare(bestRoles(placed));
  if (share === 0) return placed;
  return placed.map((each) => {
    const points = share * each.depth;
    const parts = { ...each.parts, session: each.parts.session + points };
    return { ...each, score: each.score + points, parts };
  });
}

/** The roles of the best sessions' best messages. */
function bestRoles(placed: readonly Placed[]): readonly (number | undefined)[] {
  const roles = new Map<number, number | undefined>();
  for (const { session, spot } of placed.toSorted((a, b) => b.score - a.score)) {
    if (roles.size === SAMPLED_SESSIONS) break;
    if (!roles.has(session)) roles.set(session, spot?.role);
  }
  return [...roles.values()];
}
