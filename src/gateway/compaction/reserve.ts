/**
 * The free part of a model's window.
 *
 * Compaction and the memory flush before it use this one figure; with two, the flush would come too
 * late or never.
 */

import { COMPACTION } from "../../model/compaction-numbers.ts";
import type { PiPolicy } from "./auto-policy.ts";

export type ReserveSettings = Pick<PiPolicy, "reserveTokens" | "reserveTokensFloor">;

/** Room for an answer where no policy sets one: pi's reserve without its floor. */
export const REPLY_RESERVE: ReserveSettings = { ...COMPACTION.pi, reserveTokensFloor: 0 };

/**
 * The reserve, raised to its floor and capped at half of the window: a reserve above a small
 * model's window would compact at every turn and never flush.
 */
export function effectiveReserve(settings: ReserveSettings, contextWindow: number): number {
  const { reserveTokens, reserveTokensFloor } = settings;
  return Math.min(Math.max(reserveTokens, reserveTokensFloor), Math.floor(contextWindow / 2));
}

/** Above this many tokens of context a compaction is due. */
export function compactionThreshold(settings: ReserveSettings, contextWindow: number): number {
  return contextWindow - effectiveReserve(settings, contextWindow);
}
