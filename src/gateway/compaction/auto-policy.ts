/**
 * Policies of automatic compaction, as plain objects.
 *
 * The engine itself never compacts: a host chooses a policy, and can print, store and compare it.
 */

import { CLAW_MESSAGES } from "../../compaction/presets.ts";
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

/** claw-code's own variable: the threshold of `claw` in tokens. */
export const CLAW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS";

/** Below this a summary costs about what it saves. */
const MIN_GAIN_TOKENS = 1_000;
/** Two exchanges: a context that is too full at once again will not get better by itself. */
const COOLDOWN_MESSAGES = 4;
const GUARDS: PolicyGuards = {
  minGainTokens: MIN_GAIN_TOKENS,
  cooldownMessages: COOLDOWN_MESSAGES,
};

const CLAW_INPUT_TOKENS = 200_000;

export function nonePolicy(): NonePolicy {
  return { name: "none" };
}

/**
 * Compacts with the preset `claw`, which keeps `messages` (4). The limit is 200,000 tokens or the
 * environment variable's value; a value that is not a number above 0 is ignored.
 */
export function clawPolicy(
  options: Partial<Omit<ClawPolicy, "name">> = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ClawPolicy {
  checkFields(options, "options", INPUTS.clawPolicy);
  const inputTokens = threshold(environment[CLAW_VARIABLE]);
  const preset = { inputTokens, metric: "pressure", messages: CLAW_MESSAGES, tokens: 0 } as const;
  return { name: "claw", ...GUARDS, ...preset, ...options };
}

export function piPolicy(options: Partial<Omit<PiPolicy, "name">> = {}): PiPolicy {
  checkFields(options, "options", INPUTS.piPolicy);
  const preset = { reserveTokens: 16_384, reserveTokensFloor: 20_000, keepRecentTokens: 20_000 };
  return { name: "pi", ...GUARDS, ...preset, ...options };
}

/**
 * Each compaction halves the messages without a summary, so it converges without a minimum gain.
 */
export function turnsPolicy(options: Partial<Omit<TurnsPolicy, "name">> = {}): TurnsPolicy {
  checkFields(options, "options", INPUTS.turnsPolicy);
  const preset = { triggerTurns: 50, triggerTokens: 8_000, minGainTokens: null };
  return { name: "turns", cooldownMessages: COOLDOWN_MESSAGES, ...preset, ...options };
}

const BY_NAME: Readonly<Record<AutoPolicyName, () => AutoPolicy>> = {
  none: nonePolicy,
  claw: clawPolicy,
  pi: piPolicy,
  turns: turnsPolicy,
};

/** A policy by its name with its defaults, or as it is. */
export function toAutoPolicy(policy: AutoPolicyName | AutoPolicy): AutoPolicy {
  return typeof policy === "string" ? BY_NAME[policy]() : policy;
}

/** The whole number at the start of a text is not enough: `2e5` and `100k` are no settings. */
function threshold(text: string | undefined): number {
  const tokens = /^\s*\+?\d+\s*$/.test(text ?? "") ? Number(text) : 0;
  return tokens > 0 && Number.isSafeInteger(tokens) ? tokens : CLAW_INPUT_TOKENS;
}
