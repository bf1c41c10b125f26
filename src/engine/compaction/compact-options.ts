/** Options of a compaction: the caller's, the session's, and defaults. */

import type { CompactionPlan } from "../../compaction/plan.ts";
import {
  clawKeep,
  HALF_KEEP,
  type KeepStrategy,
  NONE_KEEP,
  type PlanPreset,
  TOKENS_KEEP,
} from "../../compaction/plan-input.ts";
import { readCompactionPolicy } from "../../compaction/policy.ts";
import { modelSummarizer } from "../../compaction/prompt/check-summary.ts";
import { mechanicalSummarizer, type SummaryProfile } from "../../compaction/render.ts";
import type { Summarizer } from "../../compaction/summary.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkText } from "../../model/ids.ts";
import { checkPart } from "../../model/input.ts";
import type {
  SummarizerName,
  SummaryFallback,
  SummaryStrategy,
} from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_INSTRUCTIONS_BYTES } from "../../model/limits.ts";
import type { TextModel } from "../../model/models.ts";
import type { Session } from "../../model/session.ts";
import { checkInput, checkOneOf, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";

/** The part that stays verbatim. */
export type KeepInput =
  /** The newer half of the unsummarised messages. */
  | "half"
  | "none"
  | { readonly messages: number }
  /** The newest messages up to this many tokens together. */
  | { readonly tokens: number };

/** claw-code's preset: one switch for kept messages, trigger and summary style. */
export interface ClawPreset {
  readonly name: "claw";
  /**
   * The newest messages to keep. Default: `COMPACTION.claw`. The session must have more than these.
   */
  readonly messages?: number;
  /** Minimum tokens for a compaction. Default: `COMPACTION.claw`. */
  readonly tokens?: number;
}

export interface CompactInput {
  /** Replaces `keep`; also sets `profile` unless given. */
  readonly preset?: "claw" | ClawPreset;
  /** Default `COMPACTION.keepTokens`; `half` if the session's metadata asks for compaction. */
  readonly keep?: KeepInput;
  /** The limit of the context afterwards; tool results are shown shortened to meet it. */
  readonly limitTokens?: number;
  /** `mechanical` needs no model; `model` uses one of the store's models. */
  readonly summarizer?: SummarizerName | Summarizer;
  /** The model's name. Default `default`. */
  readonly model?: string;
  /**
   * `mechanical`: used if the model's answer is rejected or the store has no such model. Without it
   * the call fails.
   */
  readonly fallback?: SummaryFallback;
  /** Instructions to the model, at most 4 KiB; a mechanical summary ignores them. */
  readonly instructions?: string;
  /** The format of a mechanical summary: `rich` has ledger and citations, `claw` is claw-code's. */
  readonly profile?: SummaryProfile;
  /** `rolling` rewrites one summary; `hierarchical` keeps the old ones and summarises those. */
  readonly strategy?: SummaryStrategy;
  /** A hook that gets the plan before anything is written; it may cancel, or give the summary. */
  readonly before?: CompactionHook;
  readonly signal?: AbortSignal;
  /** A repeated request with the same key is carried out once. */
  readonly idempotencyKey?: string;
}

export type CompactionHook = (
  plan: CompactionPlan,
) => HookAnswer | undefined | Promise<HookAnswer | undefined>;

export type HookAnswer =
  | { readonly cancel: true; readonly reason?: string }
  | { readonly summary: string };

export interface CheckedCompaction {
  readonly preset: PlanPreset;
  /** True: too little to compact is no error. */
  readonly quiet: boolean;
  readonly limitTokens: number | undefined;
  readonly summarizer: Summarizer;
  readonly fallback: Summarizer | undefined;
  readonly profile: SummaryProfile;
  /** Undefined: none given. */
  readonly instructions: string | undefined;
  readonly strategy: SummaryStrategy;
  readonly before: CompactionHook | undefined;
  readonly signal: AbortSignal | undefined;
}

export function checkCompaction(
  engine: EngineContext,
  session: Session,
  input: CompactInput,
): CheckedCompaction {
  checkInput(input, "options", INPUTS.compact);
  const asked = session.metadata["compaction"] !== undefined;
  const { policy } = readCompactionPolicy(session.metadata);
  const { preset } = input;
  if (preset !== undefined && input.keep !== undefined) {
    throw invalid("preset", "preset replaces keep; give one of the two");
  }
  const keep = input.keep ?? (asked ? "half" : undefined);
  const style = preset === undefined ? "rich" : "claw";
  const { profile = style, fallback = "none" } = input;
  const strategy = policy.strategy === "never" ? "rolling" : policy.strategy;
  return {
    preset: preset === undefined ? toPreset(keep) : toClaw(preset),
    quiet: preset !== undefined,
    limitTokens: input.limitTokens,
    summarizer: toSummarizer(engine, session, input, profile),
    fallback: fallback === "mechanical" ? mechanicalSummarizer(profile) : undefined,
    profile,
    instructions: checkInstructions(input.instructions),
    strategy: input.strategy ?? strategy,
    before: input.before,
    signal: input.signal,
  };
}

function checkInstructions(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  return checkText(given, "instructions", MAX_INSTRUCTIONS_BYTES).trim() || undefined;
}

/** The caller's summarizer, a model by name, or the mechanical one. */
function toSummarizer(
  engine: EngineContext,
  session: Session,
  input: Pick<CompactInput, "summarizer" | "model" | "fallback">,
  profile: SummaryProfile,
): Summarizer {
  const { summarizer, model } = input;
  if (typeof summarizer === "object") return summarizer;
  // The session's metadata may name the model of its summaries.
  const compaction = session.metadata["compaction"] as { summarizerModel?: unknown } | undefined;
  const named =
    model ??
    (typeof compaction?.summarizerModel === "string" ? compaction.summarizerModel : undefined);
  const kind = summarizer ?? (named === undefined ? "mechanical" : "model");
  const isMissing = !Object.hasOwn(engine.models, named ?? "default");
  const isLeft = isMissing && input.fallback === "mechanical";
  if (kind === "mechanical" || isLeft) return mechanicalSummarizer(profile);
  return modelSummarizer(findModel(engine, named ?? "default"));
}

export function findModel(engine: EngineContext, name: string): TextModel {
  const model = Object.hasOwn(engine.models, name) ? engine.models[name] : undefined;
  if (model !== undefined) return model;
  const known = Object.keys(engine.models);
  const way =
    known.length === 0
      ? "open the store with `models`, or use the mechanical summarizer"
      : `known are ${known.join(", ")}`;
  throw new BackscrollError("model_unavailable", `there is no model ${name}; ${way}`, {
    details: { model: name },
  });
}

function toPreset(keep: KeepInput | undefined): PlanPreset {
  if (keep === undefined) return TOKENS_KEEP;
  if (keep === "half") return HALF_KEEP;
  if (keep === "none") return NONE_KEEP;
  return { strategy: toStrategy(keep) };
}

function toClaw(preset: "claw" | ClawPreset): PlanPreset {
  const given: ClawPreset = preset === "claw" ? { name: "claw" } : preset;
  const { messages = COMPACTION.claw.messages, tokens = COMPACTION.claw.tokens } = checkPart(
    given,
    "preset",
    INPUTS["compact.preset"],
  );
  checkOneOf(given.name, ["claw"], "preset.name");
  return clawKeep(messages, tokens);
}

function toStrategy(keep: { readonly messages?: number; readonly tokens?: number }): KeepStrategy {
  const { messages, tokens } = checkPart(keep, "keep", INPUTS["compact.keep"]);
  if (messages !== undefined) return { keep: "messages", count: messages };
  if (tokens !== undefined) return { keep: "tokens", tokens };
  throw invalid("keep", 'keep must be "half", "none", { messages } or { tokens }');
}
