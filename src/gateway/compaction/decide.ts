/**
 * Decides whether to compact now: a pure function from figures to a decision.
 *
 * The decision carries the numbers that it compared, so a user can see why a session was compacted
 * or was not.
 */

import type { Usage } from "../../model/entry.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import {
  type AutoPolicy,
  compactionThreshold,
  effectiveReserve,
  type PolicyGuards,
} from "./auto-policy.ts";

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

/** Events of the automatic parts: every decision with its numbers, and its outcome. */
interface SessionEvent {
  readonly sessionId: string;
}

export type GatewayEvent =
  /** After every turn: whether to compact, and why. */
  | (SessionEvent & {
      readonly type: "compaction_decided";
      readonly compact: boolean;
      readonly reason: DecisionReason | "overflow";
      readonly policy: AutoPolicy["name"];
      readonly numbers: Readonly<Record<string, number>>;
      /** True: the size is an estimate, because no provider reported one. */
      readonly estimated: boolean;
    })
  | (SessionEvent & {
      readonly type: "compacted";
      readonly entryId: string;
      /** How often this session was compacted automatically, this time included. */
      readonly count: number;
      readonly removed: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    })
  /** A due compaction was not done; the next attempt waits for the cool-down. */
  | (SessionEvent & {
      readonly type: "compaction_skipped";
      readonly reason: "min_gain" | "nothing_to_compact" | "conflict" | "failed";
      /** The error code of a failure; `unknown` for foreign errors. */
      readonly code?: string;
      readonly message: string;
      readonly numbers: Readonly<Record<string, number>>;
    })
  | (SessionEvent & {
      readonly type: "flush_decided";
      readonly flush: boolean;
      readonly reason: FlushReason;
      readonly numbers: Readonly<Record<string, number>>;
    })
  | (SessionEvent & {
      readonly type: "flushed";
      /** The names of the memories that were written. */
      readonly memories: readonly string[];
      readonly file?: string;
    })
  /** The cycle stays unmarked, so the next turn tries again. */
  | (SessionEvent & {
      readonly type: "flush_failed";
      readonly code: string;
      readonly message: string;
    })
  /** The context overflowed; the call is repeated with a smaller one. */
  | (SessionEvent & {
      readonly type: "overflow_retry";
      readonly attempt: number;
      readonly numbers: Readonly<Record<string, number>>;
    })
  /** A setting of the session or its route was ignored. */
  | (SessionEvent & { readonly type: "setting_ignored"; readonly message: string })
  /** The route's counters and marks are stale; the next turn repairs them. */
  | (SessionEvent & { readonly type: "route_not_updated"; readonly message: string })
  /** The attempt's mark could not be stored, so the next turn may retry before the cool-down. */
  | (SessionEvent & { readonly type: "attempt_not_marked"; readonly message: string });

export type FlushReason =
  /** Before a compaction that is about to happen. */
  | "before_compaction"
  | "over_soft_threshold"
  | "below_soft_threshold"
  /** The policy has no threshold in tokens, so only a compaction triggers a flush. */
  | "no_soft_threshold"
  | "already_flushed"
  /** Another process holds the lease. */
  | "claimed_elsewhere"
  /** The token count is stale: too old, or from before the last compaction. */
  | "stale_count"
  | "heartbeat"
  | "read_only_workspace"
  | "disabled";

export type EventListener = (event: GatewayEvent) => void;
