/** Calls an embedding model: timeout, retries, counters, errors. */

import type { Embedder, EmbedderUse, Vector } from "../../model/embedder.ts";
import { DEFAULT_TIMEOUT_MS, stateOf } from "../ask-model.ts";
import { modelFailure } from "../model-failure.ts";
import { callWithRetries } from "./call-again.ts";

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
