/**
 * Policies of automatic compaction, as plain objects.
 *
 * The engine itself never compacts: a host chooses a policy, and can print, store and compare it.
 */

import { COMPACTION } from "../../model/compaction-numbers.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";

/** What every policy that compacts has. */
export interface PolicyGuards {
  /** A compaction that would save fewer tokens is not done; null: whatever it saves. */
  readonly minGainTokens: number | null;
  /** After an attempt, whatever came of it, the next one waits for so many messages. */
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
   * `pressure`: what the context takes now. `cumulative`: the input of all calls of the session, as
   * claw-code has it. Once that has crossed the threshold it stays there, so that only the guards
   * keep a session from being compacted again and again.
   */
  readonly metric: "pressure" | "cumulative";
  /** The newest messages that stay as they were said. */
  readonly messages: number;
  /** No compaction below this many tokens without a summary. */
  readonly tokens: number;
}

/** As pi: when the context leaves less of the window free than is reserved for what comes next. */
export interface PiPolicy extends PolicyGuards {
  readonly name: "pi";
  readonly reserveTokens: number;
  /** The reserve is at least this; 0 leaves it as it is. */
  readonly reserveTokensFloor: number;
  readonly keepRecentTokens: number;
}

/** When more than so many messages, or tokens in them, are not summarised yet. */
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

/** By name, with their defaults. */
export const AUTO_POLICIES: Readonly<Record<AutoPolicyName, () => AutoPolicy>> = {
  turns: turnsPolicy,
  pi: piPolicy,
  claw: clawPolicy,
  none: nonePolicy,
};

/** A policy by its name with its defaults, or as it is. */
export function toAutoPolicy(policy: AutoPolicyName | AutoPolicy): AutoPolicy {
  return typeof policy === "string" ? AUTO_POLICIES[policy]() : policy;
}

/** The whole number at the start of a text is not enough: `2e5` and `100k` are no settings. */
function threshold(text: string | undefined): number {
  const tokens = /^\s*\+?\d+\s*$/.test(text ?? "") ? Number(text) : 0;
  return tokens > 0 && Number.isSafeInteger(tokens) ? tokens : COMPACTION.claw.inputTokens;
}
