/**
 * Decides whether to compact now: a pure function from figures to a decision.
 *
 * The decision carries the numbers that it compared, so a user can see why a session was compacted
 * or was not.
 */

import type { Usage } from "../../model/entry.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { AutoPolicy, PolicyGuards } from "./auto-policy.ts";
import { compactionThreshold, effectiveReserve } from "./reserve.ts";

/** Figures of a session at the end of a turn. */
export interface CompactionFigures {
  /**
   * Tokens of the current context: the last report, cache included, plus an estimate of the
   * messages since.
   */
  readonly contextTokens: number;
  /** True: no provider reported usage since the last compaction, so the figure is an estimate. */
  readonly estimated: boolean;
  readonly contextWindow: number;
  /** Billed input tokens of all calls of the session. */
  readonly billedInputTokens: number;
  /** Committed messages of the active path that no compaction covers. */
  readonly unsummarized: { readonly turns: number; readonly tokens: number };
  /** Messages since the last attempt to compact; null: no attempt yet. */
  readonly messagesSinceAttempt: number | null;
  /** Input tokens of the last model call; null if unknown. */
  readonly lastInputTokens: number | null;
}

export type DecisionReason =
  /** The policy is `none`. */
  | "disabled"
  | "below_threshold"
  | "over_threshold"
  | "over_turns"
  | "over_tokens"
  /** Due, but within the cool-down after the last attempt. */
  | "cooling_down"
  /**
   * Silent overflow: the provider accepted more than the window holds and truncated the context
   * itself.
   */
  | "silent_overflow";

export interface CompactionDecision {
  readonly compact: boolean;
  readonly reason: DecisionReason;
  readonly policy: AutoPolicy["name"];
  /** The compared numbers, by name. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Thresholds of `pi` and `turns` must be exceeded, that of `claw` reached. */
export function decide(policy: AutoPolicy, figures: CompactionFigures): CompactionDecision {
  checkPart(figures, "figures", INPUTS["decide.figures"]);
  if (policy.name === "none") {
    return decision(policy, "disabled", { contextTokens: figures.contextTokens });
  }
  const [reason, numbers] = overflowed(figures) ?? compare(policy, figures);
  if (reason === "below_threshold") return decision(policy, reason, numbers);
  return isCooling(policy, figures)
    ? decision(policy, "cooling_down", { ...numbers, ...cooling(policy, figures) })
    : decision(policy, reason, numbers);
}

/** Input tokens of a usage report, cached ones included. */
export function inputTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheCreationTokens;
}

type Comparison = readonly [
  reason: Exclude<DecisionReason, "disabled" | "cooling_down">,
  numbers: Record<string, number>,
];

function overflowed({ lastInputTokens, contextWindow }: CompactionFigures): Comparison | undefined {
  if (lastInputTokens === null || lastInputTokens <= contextWindow) return undefined;
  return ["silent_overflow", { lastInputTokens, contextWindow }];
}

function compare(policy: Exclude<AutoPolicy, { name: "none" }>, figures: CompactionFigures) {
  switch (policy.name) {
    case "claw": {
      const { metric, inputTokens: threshold } = policy;
      const cumulative = metric === "cumulative";
      const tokens = cumulative ? figures.billedInputTokens : figures.contextTokens;
      const numbers = { [cumulative ? "billedInputTokens" : "contextTokens"]: tokens, threshold };
      return [tokens >= threshold ? "over_threshold" : "below_threshold", numbers] as Comparison;
    }
    case "pi": {
      const { contextTokens, contextWindow } = figures;
      const reserveTokens = effectiveReserve(policy, contextWindow);
      const threshold = compactionThreshold(policy, contextWindow);
      const over = contextTokens > threshold;
      const numbers = { contextTokens, threshold, contextWindow, reserveTokens };
      return [over ? "over_threshold" : "below_threshold", numbers] as Comparison;
    }
    case "turns": {
      const { turns, tokens } = figures.unsummarized;
      const { triggerTurns, triggerTokens } = policy;
      const numbers = { turns, triggerTurns, tokens, triggerTokens };
      const overTokens = tokens > triggerTokens ? "over_tokens" : "below_threshold";
      return [turns > triggerTurns ? "over_turns" : overTokens, numbers] as Comparison;
    }
  }
}

function isCooling(guards: PolicyGuards, { messagesSinceAttempt }: CompactionFigures): boolean {
  return messagesSinceAttempt !== null && messagesSinceAttempt < guards.cooldownMessages;
}

function cooling(guards: PolicyGuards, figures: CompactionFigures): Record<string, number> {
  const { cooldownMessages } = guards;
  return { messagesSinceAttempt: figures.messagesSinceAttempt ?? 0, cooldownMessages };
}

const COMPACTS: Readonly<Record<DecisionReason, boolean>> = {
  disabled: false,
  below_threshold: false,
  cooling_down: false,
  over_threshold: true,
  over_turns: true,
  over_tokens: true,
  silent_overflow: true,
};

function decision(
  policy: AutoPolicy,
  reason: DecisionReason,
  numbers: Record<string, number>,
): CompactionDecision {
  return { compact: COMPACTS[reason], reason, policy: policy.name, numbers };
}
