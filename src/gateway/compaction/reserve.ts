/**
 * How much of a model's window is kept free.
 *
 * The compaction and the memory flush before it must start from the same figure: computed from two,
 * the flush comes too late or never.
 */

import { COMPACTION } from "../../model/compaction-numbers.ts";
import type { PiPolicy } from "./auto-policy.ts";

export type ReserveSettings = Pick<PiPolicy, "reserveTokens" | "reserveTokensFloor">;

/** For an answer where no policy says otherwise: pi's reserve without its floor. */
export const REPLY_RESERVE: ReserveSettings = { ...COMPACTION.pi, reserveTokensFloor: 0 };

/**
 * The reserve, lifted to its floor, but never more than half of the window: a reserve that is larger
 * than a small model's window would compact at every turn, and never flush.
 */
export function effectiveReserve(settings: ReserveSettings, contextWindow: number): number {
  const { reserveTokens, reserveTokensFloor } = settings;
  return Math.min(Math.max(reserveTokens, reserveTokensFloor), Math.floor(contextWindow / 2));
}

/** Above this many tokens of context a compaction is due. */
export function compactionThreshold(settings: ReserveSettings, contextWindow: number): number {
  return contextWindow - effectiveReserve(settings, contextWindow);
}
