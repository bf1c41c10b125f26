/** Calls an embedding model: timeout, retries, counters, errors. */

import { backOffMs, pause, withJitter } from "../../async/pause.ts";
import type { Embedder, EmbedderUse, Vector } from "../../model/models.ts";
import { DEFAULT_TIMEOUT_MS, stateOf } from "../ask-model.ts";
import { modelFailure } from "../model-failure.ts";

/**
 * Retries with exponential back-off, for rate-limited providers.
 *
 * A failure has the fields of the AI SDK's errors: `statusCode` and `responseHeaders`. Retried are
 * 408, 409, 425, 429, 5xx and lost connections; other statuses are permanent.
 */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Retries {
  readonly maxRetries: number;
  readonly signal: AbortSignal;
  readonly onRetry: () => void;
}

/** Throws the last failure. An aborted pause throws the signal's reason. */
async function callWithRetries<Result>(
  { maxRetries, signal, onRetry }: Retries,
  call: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= maxRetries || !isPassing(error)) throw error;
      const backOff = withJitter(backOffMs(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
      await pause(retryAfterMs(error) ?? backOff, signal);
      onRetry();
    }
  }
}

function isPassing(error: unknown): boolean {
  const status = (error as { readonly statusCode?: unknown })?.statusCode;
  // No status means no answer.
  if (typeof status !== "number") return true;
  return [408, 409, 425, 429].includes(status) || status >= 500;
}

/** `Retry-After`, in seconds or as a date; at most `LONGEST_PAUSE_MS`. */
export function retryAfterMs(error: unknown, now: number = Date.now()): number | undefined {
  const headers = (error as { readonly responseHeaders?: Record<string, string> })?.responseHeaders;
  const given = headers?.["retry-after"]?.trim();
  if (given === undefined || given === "") return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - now;
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_PAUSE_MS, Math.max(0, ms));
}

/** Bulk embedding meets rate limits: more attempts than for a chat model. */
const DEFAULT_RETRIES = 5;

export interface EmbedderOptions {
  /** Recorded with the vectors. Default: the model's id. */
  readonly name?: string;
  /** Dimensions of a vector. Default: the first vector's. */
  readonly dimensions?: number;
  /** The timeout of a call, including retries. Default 120 s. */
  readonly timeoutMs?: number;
  /** The limit of retries of an unanswered call. Default 5. */
  readonly maxRetries?: number;
}

export interface EmbeddingAnswer {
  readonly vectors: readonly Vector[];
  /** As the provider counted them; 0 if unknown. */
  readonly tokens: number;
}

/** `ask` makes one attempt. Failures of the resulting embedder are `model_failed`. */
export function retryingEmbedder(
  name: string,
  { dimensions, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES }: EmbedderOptions,
  ask: (texts: readonly string[], signal: AbortSignal) => Promise<EmbeddingAnswer>,
): Embedder {
  const use = { calls: 0, texts: 0, tokens: 0, retries: 0 };
  const embed = async (texts: readonly string[], signal?: AbortSignal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
    const onRetry = () => {
      use.retries++;
    };
    try {
      const { vectors, tokens } = await callWithRetries({ maxRetries, signal: stop, onRetry }, () =>
        ask(texts, stop),
      );
      use.calls++;
      use.texts += texts.length;
      use.tokens += tokens;
      return vectors;
    } catch (error) {
      throw modelFailure(name, error, stateOf(signal, timeout, timeoutMs));
    }
  };
  const counters: EmbedderUse = use;
  return dimensions === undefined
    ? { name, embed, use: counters }
    : { name, dimensions, embed, use: counters };
}
