/** The options of a context, checked and completed. */

import type { PruneOptions } from "../../context/prune.ts";
import { PROVIDERS, type Provider } from "../../context/render/render.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { DEFAULT_CONTEXT_BUDGET, MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import {
  checkCount,
  checkFlag,
  checkHits,
  checkInput,
  checkKey,
  checkList,
  checkOneOf,
  invalid,
} from "../check.ts";

export interface BuildContextInput {
  /** Tokens of all messages together: at least 256. Default 4,000. */
  readonly tokenBudget?: number;
  /** The limit of verbatim turns, the newest included. Default 20. */
  readonly recentTurns?: number;
  /**
   * Recall of earlier turns: up to `k` (8) that reach `threshold` (0 to 1, default 0); false: off.
   * With an embedder the threshold is a cosine similarity to the newest user message, without one a
   * share of the best score.
   */
  readonly semanticRecall?: { readonly k?: number; readonly threshold?: number } | false;
  /** Adds the session's facts. */
  readonly includeFacts?: boolean;
  /** Only messages of these actors, with the results of their tools. */
  readonly filterParticipants?: readonly string[];
  /** The query of the recall. Default: the newest user message. */
  readonly query?: string;
  /** A leaf other than the active one; without recall. */
  readonly leaf?: string;
  /**
   * The user's message to answer, if not the newest: it moves to the end, followed by the answers
   * that name it in `metadata.replyTo`. Later unanswered messages are left out.
   */
  readonly replyTo?: string;
  /** Also renders the context for this provider: see `rendered`. */
  readonly provider?: Provider;
  /** The target model: `rendered` leaves out signatures of other models. */
  readonly model?: string;
  /** Shortens and clears old tool results as the model's window fills. */
  readonly prune?: PruneOptions;
}

const DEFAULT_TURNS = 20;
const DEFAULT_RECALLED = 8;

export interface CheckedContext {
  readonly tokenBudget: number;
  readonly recentTurns: number;
  readonly recall: { readonly k: number; readonly threshold: number } | null;
  readonly includeFacts: boolean;
  readonly participants: ReadonlySet<string> | null;
  readonly query: string | undefined;
  readonly leaf: string | undefined;
  readonly replyTo: string | undefined;
  readonly provider: Provider | undefined;
  readonly model: string | undefined;
  readonly prune: PruneOptions | undefined;
}

export function checkContextOptions(input: BuildContextInput): CheckedContext {
  const {
    tokenBudget = DEFAULT_CONTEXT_BUDGET,
    semanticRecall = {},
    filterParticipants,
    query,
    leaf,
    replyTo,
  } = checkInput(input, "options", INPUTS.buildContext);
  return {
    tokenBudget: checkAtLeast(MIN_CONTEXT_BUDGET, tokenBudget, "tokenBudget"),
    recentTurns: checkPositive(input.recentTurns ?? DEFAULT_TURNS, "recentTurns"),
    recall:
      semanticRecall === false
        ? null
        : {
            k: checkHits(
              checkInput(semanticRecall, "semanticRecall", INPUTS["buildContext.semanticRecall"]).k,
              "semanticRecall.k",
              DEFAULT_RECALLED,
            ),
            threshold: checkScore(semanticRecall.threshold ?? 0),
          },
    includeFacts: checkFlag(input.includeFacts ?? false, "includeFacts"),
    participants:
      filterParticipants === undefined
        ? null
        : new Set(
            checkList(filterParticipants, "filterParticipants").map((actor) =>
              checkKey(actor, "filterParticipants"),
            ),
          ),
    query: query === undefined ? undefined : checkKey(query, "query"),
    leaf: leaf === undefined ? undefined : checkKey(leaf, "leaf"),
    replyTo: replyTo === undefined ? undefined : checkKey(replyTo, "replyTo"),
    provider:
      input.provider === undefined ? undefined : checkOneOf(input.provider, PROVIDERS, "provider"),
    model: input.model === undefined ? undefined : checkKey(input.model, "model"),
    prune: input.prune === undefined ? undefined : checkPrune(input.prune),
  };
}

function checkPositive(value: unknown, field: string): number {
  return checkAtLeast(1, value, field);
}

function checkAtLeast(least: number, value: unknown, field: string): number {
  const count = checkCount(value, field);
  if (count < least) throw invalid(field, `${field} must be a whole number of at least ${least}`);
  return count;
}

function checkScore(value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw invalid(
    "semanticRecall.threshold",
    "semanticRecall.threshold must be a number from 0 to 1: a similarity, or without an embedder a share of the best score",
  );
}

function checkPrune(prune: PruneOptions): PruneOptions {
  const { windowTokens, tools, limits } = checkInput(prune, "prune", INPUTS["buildContext.prune"]);
  checkPositive(windowTokens, "prune.windowTokens");
  if (tools !== undefined) {
    checkInput(tools, "prune.tools", INPUTS["buildContext.prune.tools"]);
  }
  if (limits !== undefined) {
    checkInput(limits, "prune.limits", INPUTS["buildContext.prune.limits"]);
  }
  return prune;
}
