/**
 * Decides whether to flush memories before a compaction: a pure function.
 *
 * The threshold lies a little below the compaction's and comes from the same reserve. A flush
 * happens once per cycle, from one compaction to the next.
 */

import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { AutoPolicy } from "../compaction/auto-policy.ts";
import type { FlushReason } from "../compaction/events.ts";
import { compactionThreshold } from "../compaction/reserve.ts";

export interface FlushFigures {
  readonly contextTokens: number;
  readonly contextWindow: number;
  /** The token count is of the current context. */
  readonly fresh: boolean;
  /** Memories were flushed since the newest compaction. */
  readonly flushed: boolean;
  /** A compaction is about to happen: the threshold no longer matters. */
  readonly compacting: boolean;
  /** The turn was automatic: no user wrote. */
  readonly heartbeat: boolean;
}

export interface FlushSettings {
  readonly enabled: boolean;
  /** Distance of the flush below the compaction's threshold. */
  readonly softThresholdTokens: number;
  /** The agent's access to its workspace: with `ro` and `none` it writes no memories. */
  readonly workspaceAccess: "rw" | "ro" | "none";
}

export interface FlushDecision {
  readonly flush: boolean;
  readonly reason: FlushReason;
  readonly numbers: Readonly<Record<string, number>>;
}

export function decideFlush(
  policy: AutoPolicy,
  settings: FlushSettings,
  figures: FlushFigures,
): FlushDecision {
  checkPart(settings, "settings", INPUTS["decideFlush.settings"]);
  checkPart(figures, "figures", INPUTS["decideFlush.figures"]);
  const { contextTokens, compacting } = figures;
  const no = (reason: FlushReason) => ({ flush: false, reason, numbers: { contextTokens } });
  if (!settings.enabled || policy.name === "none") return no("disabled");
  if (settings.workspaceAccess !== "rw") return no("read_only_workspace");
  if (figures.heartbeat) return no("heartbeat");
  if (figures.flushed) return no("already_flushed");
  if (compacting) return { flush: true, reason: "before_compaction", numbers: { contextTokens } };
  if (!figures.fresh) return no("stale_count");
  const threshold = softThreshold(policy, settings.softThresholdTokens, figures.contextWindow);
  if (threshold === null) return no("no_soft_threshold");
  const flush = contextTokens >= threshold;
  const reason = flush ? "over_soft_threshold" : "below_soft_threshold";
  return { flush, reason, numbers: { contextTokens, threshold } };
}

/**
 * The context size, in tokens, that triggers a flush; null: the policy has no token threshold. In a
 * small window the distance is at most half of the threshold.
 */
export function softThreshold(
  policy: AutoPolicy,
  softThresholdTokens: number,
  contextWindow: number,
): number | null {
  const hard = hardThreshold(policy, contextWindow);
  if (hard === null) return null;
  return hard - Math.min(softThresholdTokens, Math.floor(hard / 2));
}

function hardThreshold(policy: AutoPolicy, contextWindow: number): number | null {
  if (policy.name === "pi") return compactionThreshold(policy, contextWindow);
  return policy.name === "claw" && policy.metric === "pressure" ? policy.inputTokens : null;
}
