/**
 * Repeats a call whose context is too long, with less each time.
 *
 * Sizes are those of the requests that were sent, not of their budgets: a budget may be far above
 * the conversation. Each request is smaller than every refused one, by a quarter at most, so that
 * the accepted one uses most of a window that nobody has named.
 */

import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import { forgetLearned, keepLearned, type LearnedWindow } from "./learned-window.ts";

/** With a quarter less each time, these reach a window of a fiftieth. */
export const MAX_RECOVERIES = 14;

const SHRINK = 0.75;

export interface WindowSearch {
  readonly memory: TenantEngine;
  readonly model: string;
  /** The budget of the first request's messages. */
  readonly tokenBudget: number;
  /** Tokens of the request beside its messages: instructions and tools. */
  readonly fixedTokens: number;
  readonly learned: LearnedWindow | undefined;
  /** Runs before each repetition; `limitTokens` is its budget. */
  readonly onRetry: (retry: Retry) => Promise<void>;
}

export interface Retry {
  /** Counted from 1. */
  readonly attempt: number;
  /** An upper bound of the window: told by the provider, or the size that it refused. */
  readonly windowTokens: number;
  readonly limitTokens: number;
}

export type Asked<Answer> =
  | { readonly answer: Answer; readonly sentTokens: number }
  | {
      readonly failure: unknown;
      readonly sentTokens: number;
      /** The window, if the provider named it. */
      readonly windowTokens: number | undefined;
    };

export interface Fitted<Answer> {
  readonly answer: Answer;
  /** What its refusals taught; undefined if there were none. */
  readonly learned: LearnedWindow | undefined;
  readonly attempts: number;
}

/**
 * `ask` gets a budget, and a size that the request must stay below; it sends nothing and gives
 * undefined if that is impossible. Throws the last failure after `MAX_RECOVERIES`.
 */
export async function untilItFits<Answer>(
  search: WindowSearch,
  ask: (tokenBudget: number, below: number) => Promise<Asked<Answer> | undefined>,
): Promise<Fitted<Answer>> {
  const { fixedTokens } = search;
  let budget = search.tokenBudget;
  let refused = Number.POSITIVE_INFINITY;
  let failure: unknown;
  let isDoubtful = false;
  for (let attempt = 0; ; attempt++) {
    const asked = await ask(budget, refused);
    if (asked === undefined) throw failure;
    const { sentTokens } = asked;
    if ("answer" in asked) {
      if (attempt === 0 || isDoubtful) {
        return { answer: asked.answer, learned: undefined, attempts: attempt };
      }
      const learned = { accepted: sentTokens, refused };
      await keepLearned(search.memory, search.model, learned);
      return { answer: asked.answer, learned, attempts: attempt };
    }
    ({ failure } = asked);
    if (attempt === 0 && sentTokens <= (search.learned?.accepted ?? 0)) {
      // The model took as much before: the window has changed, or the refusal is wrong. Forgotten, so
      // that refusals which are wrong never add up; if it has changed, the next one teaches it.
      isDoubtful = true;
      await forgetLearned(search.memory, search.model);
    }
    if (attempt === MAX_RECOVERIES) throw failure;
    refused = sentTokens;
    const good = attempt < 2 ? (search.learned?.accepted ?? 0) : 0;
    const limitTokens = nextSize(refused, asked.windowTokens, good) - fixedTokens;
    budget = Math.max(MIN_CONTEXT_BUDGET, limitTokens);
    const windowTokens = Math.min(refused, asked.windowTokens ?? refused);
    await search.onRetry({ attempt: attempt + 1, windowTokens, limitTokens: budget });
  }
}

/** Between what was accepted and what was refused, and not below three quarters of the latter. */
export function nextSize(refused: number, told: number | undefined, accepted: number): number {
  const shrunk = SHRINK * Math.min(refused, told ?? refused);
  const between = told === undefined && accepted < refused ? (accepted + refused) / 2 : 0;
  return Math.floor(Math.max(shrunk, between));
}
