/** One call of an embedding model: its time limit, its retries, its counters, its failures. */

import type { Embedder, EmbedderUse, Vector } from "../../model/embedder.ts";
import { DEFAULT_TIMEOUT_MS, stateOf } from "../ask-model.ts";
import { modelFailure } from "../model-failure.ts";
import { callAgain } from "./call-again.ts";

/** Bulk embedding meets rate limits: more attempts than a question to a chat model. */
const DEFAULT_RETRIES = 5;

export interface EmbedderOptions {
  /** Recorded with the vectors; the model's own id if left out. */
  readonly name?: string;
  /** Dimensions of a vector; those of the first vector if left out. */
  readonly dimensions?: number;
  /** How long a call may take, attempts and the waiting between them included: 120 s if left out. */
  readonly timeoutMs?: number;
  /** How often a call that the server could not answer is made again: 5 times if left out. */
  readonly maxRetries?: number;
}

export interface EmbeddingAnswer {
  readonly vectors: readonly Vector[];
  /** As the provider counted them; 0 if it did not. */
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
      const { vectors, tokens } = await callAgain({ maxRetries, signal: stop, onRetry }, () =>
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
