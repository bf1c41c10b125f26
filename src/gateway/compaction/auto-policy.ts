/**
 * Policies of automatic compaction, as plain objects.
 *
 * The engine itself never compacts: a host chooses a policy, and can print, store and compare it.
 */

import { COMPACTION } from "../../model/compaction-numbers.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";

/** Fields that every compacting policy has. */
export interface PolicyGuards {
  /** Minimum gain in tokens; a smaller gain skips the compaction. Null: any gain will do. */
  readonly minGainTokens: number | null;
  /** Cool-down in messages after every attempt, successful or not. */
  readonly cooldownMessages: number;
}

/** Never. */
export interface NonePolicy {
  readonly name: "none";
}

/** claw-code's policy: compact when the tokens sent to the model reach a limit. */
export interface ClawPolicy extends PolicyGuards {
  readonly name: "claw";
  readonly inputTokens: number;
  /**
   * `pressure`: tokens of the current context. `cumulative`: input tokens of all calls of the
   * session, as in claw-code. A cumulative count stays above its threshold once it has crossed it,
   * so only the guards prevent repeated compactions.
   */
  readonly metric: "pressure" | "cumulative";
  /** The newest messages, which stay verbatim. */
  readonly messages: number;
  /** Minimum of unsummarised tokens for a compaction. */
  readonly tokens: number;
}

/** pi's policy: compact when the free part of the window is smaller than the reserve. */
export interface PiPolicy extends PolicyGuards {
  readonly name: "pi";
  readonly reserveTokens: number;
  /** Minimum of the reserve; 0: no minimum. */
  readonly reserveTokensFloor: number;
  readonly keepRecentTokens: number;
}

/** Compact when the unsummarised messages, or their tokens, exceed a limit. */
export interface TurnsPolicy extends PolicyGuards {
  readonly name: "turns";
  readonly triggerTurns: number;
  readonly triggerTokens: number;
}

export type AutoPolicy = NonePolicy | ClawPolicy | PiPolicy | TurnsPolicy;
export type AutoPolicyName = AutoPolicy["name"];

export const DEFAULT_AUTO_POLICY: AutoPolicyName = "turns";

/** claw-code's own variable: the threshold of `claw` in tokens. */
export const CLAW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS";

const GUARDS: PolicyGuards = {
  minGainTokens: COMPACTION.minGainTokens,
  cooldownMessages: COMPACTION.cooldownMessages,
};

export function nonePolicy(): NonePolicy {
  return { name: "none" };
}

/**
 * Compacts with the preset `claw`, which keeps `messages`. The limit is `COMPACTION.claw.inputTokens` or
 * the environment variable's value; a value that is not a number above 0 is ignored.
 */
export function clawPolicy(
  options: Partial<Omit<ClawPolicy, "name">> = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ClawPolicy {
  checkFields(options, "options", INPUTS.clawPolicy);
  const inputTokens = threshold(environment[CLAW_VARIABLE]);
  const { messages } = COMPACTION.claw;
  return {
    name: "claw",
    ...GUARDS,
    inputTokens,
    metric: "pressure",
    messages,
    tokens: 0,
    ...options,
  };
}

export function piPolicy(options: Partial<Omit<PiPolicy, "name">> = {}): PiPolicy {
  checkFields(options, "options", INPUTS.piPolicy);
  const keepRecentTokens = COMPACTION.keepTokens;
  return { name: "pi", ...GUARDS, ...COMPACTION.pi, keepRecentTokens, ...options };
}

/**
 * Each compaction halves the messages without a summary, so it converges without a minimum gain.
 */
export function turnsPolicy(options: Partial<Omit<TurnsPolicy, "name">> = {}): TurnsPolicy {
  checkFields(options, "options", INPUTS.turnsPolicy);
  return { name: "turns", ...GUARDS, ...COMPACTION.turns, minGainTokens: null, ...options };
}

/** The policies by name, with their defaults. */
export const AUTO_POLICIES: Readonly<Record<AutoPolicyName, (settings?: never) => AutoPolicy>> = {
  turns: turnsPolicy,
  pi: piPolicy,
  claw: clawPolicy,
  none: nonePolicy,
};

/** A policy by name with its defaults, or the given policy, checked. */
export function toAutoPolicy(policy: AutoPolicyName | AutoPolicy): AutoPolicy {
  if (typeof policy === "string") return AUTO_POLICIES[policy]();
  const { name, ...settings } = policy;
  if (!Object.hasOwn(AUTO_POLICIES, name)) {
    const message = `policy.name must be one of ${Object.keys(AUTO_POLICIES).join(", ")}`;
    throw new BackscrollError("invalid_input", message, { details: { field: "policy.name" } });
  }
  return AUTO_POLICIES[name](settings as never);
}

/** The whole text must be a number: `2e5` and `100k` are refused. */
function threshold(text: string | undefined): number {
  const tokens = /^\s*\+?\d+\s*$/.test(text ?? "") ? Number(text) : 0;
  return tokens > 0 && Number.isSafeInteger(tokens) ? tokens : COMPACTION.claw.inputTokens;
}

// The free part of a model's window.
//
// Compaction and the memory flush before it use this one figure; with two, the flush would come too
// late or never.

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
