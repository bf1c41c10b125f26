/** The options of a context, checked and completed. */

import type { PruneOptions } from "../../context/prune.ts";
import type { Provider } from "../../context/render/render.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { DEFAULT_CONTEXT_BUDGET, MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import { checkHits, checkInput, checkKey, invalid } from "../check.ts";

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
  /**
   * Adds the rules in force of the session's project and owner, and the candidates of this session:
   * at most 400 tokens, those that bear on the question first.
   */
  readonly rules?: boolean;
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
  readonly rules: boolean;
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
    recentTurns = DEFAULT_TURNS,
    semanticRecall = {},
    includeFacts = false,
    rules = false,
    filterParticipants,
    query,
    leaf,
    replyTo,
    provider,
    model,
    prune,
  } = checkInput(input, "options", INPUTS.buildContext);
  return {
    tokenBudget: checkAtLeast(MIN_CONTEXT_BUDGET, tokenBudget, "tokenBudget"),
    recentTurns,
    recall: semanticRecall === false ? null : checkRecall(semanticRecall),
    includeFacts,
    rules,
    participants:
      filterParticipants === undefined
        ? null
        : new Set(filterParticipants.map((actor) => checkKey(actor, "filterParticipants"))),
    query,
    leaf,
    replyTo,
    provider,
    model,
    prune: prune === undefined ? undefined : checkPrune(prune),
  };
}

function checkAtLeast(least: number, value: number, field: string): number {
  if (value < least) throw invalid(field, `${field} must be a whole number of at least ${least}`);
  return value;
}

function checkRecall(
  recall: Exclude<BuildContextInput["semanticRecall"], false | undefined>,
): CheckedContext["recall"] {
  const { k, threshold = 0 } = checkPart(
    recall,
    "semanticRecall",
    INPUTS["buildContext.semanticRecall"],
  );
  return { k: checkHits(k, "semanticRecall.k", DEFAULT_RECALLED), threshold };
}

function checkPrune(prune: PruneOptions): PruneOptions {
  const { tools, limits } = checkPart(prune, "prune", INPUTS["buildContext.prune"]);
  if (tools !== undefined) checkPart(tools, "prune.tools", INPUTS["buildContext.prune.tools"]);
  if (limits !== undefined) checkPart(limits, "prune.limits", INPUTS["buildContext.prune.limits"]);
  return prune;
}
