/**
 * Repeats a call whose context is too long, with less each time.
 *
 * Sizes are those of the requests that were sent, not of their budgets: a budget may be far above
 * the conversation. Each request is smaller than every refused one, by a quarter at most, so that
 * the accepted one uses most of a window that nobody has named.
 */

import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { isPlainObject } from "../../model/json.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";

/** With a quarter less each time, these reach a window of a fiftieth. */
export const MAX_RECOVERIES = 14;

const SHRINK = 0.75;

interface WindowSearch {
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

interface Fitted<Answer> {
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
function nextSize(refused: number, told: number | undefined, accepted: number): number {
  const shrunk = SHRINK * Math.min(refused, told ?? refused);
  const between = told === undefined && accepted < refused ? (accepted + refused) / 2 : 0;
  return Math.floor(Math.max(shrunk, between));
}

// What was learned about a model's window from its refusals, as a record of the tenant.
//
// A record, so that every process and node that answers with the model knows it. It expires: a
// provider may enlarge a window, and a local server may be started with another one.

/** Sizes of whole requests in tokens, by the store's own count. */
export interface LearnedWindow {
  /** The largest request that was accepted after a refusal. */
  readonly accepted: number;
  /** The smallest request that was refused. */
  readonly refused: number;
}

/** The namespace of the records; the key is the model's name. */
export const WINDOWS_NAMESPACE = "backscroll.windows";

/** A week in seconds: then one refusal teaches it again. */
const LEARNED_SECONDS = 7 * 24 * 3_600;

export async function readLearned(
  memory: TenantEngine,
  model: string,
): Promise<LearnedWindow | undefined> {
  const found = await memory.records.find(WINDOWS_NAMESPACE, model);
  const value = found?.value;
  if (!isPlainObject(value)) return undefined;
  const { accepted, refused } = value as Record<string, unknown>;
  const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) > 0;
  if (!isSize(accepted) || !isSize(refused)) return undefined;
  return { accepted: accepted as number, refused: refused as number };
}

/** A failure is ignored: the answer is there, and the next refusal teaches the same. */
async function keepLearned(
  memory: TenantEngine,
  model: string,
  learned: LearnedWindow,
): Promise<void> {
  const place = { namespace: WINDOWS_NAMESPACE, key: model };
  await memory.records
    .put({ ...place, value: { ...learned }, ttl: LEARNED_SECONDS })
    .catch(() => undefined);
}

async function forgetLearned(memory: TenantEngine, model: string): Promise<void> {
  await memory.records.delete(WINDOWS_NAMESPACE, model).catch(() => undefined);
}
