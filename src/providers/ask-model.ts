/**
 * Calls a model of the AI SDK for a complete answer: summaries, facts and titles.
 *
 * The SDK is loaded with the first call, so programs without a model do not pay for it.
 */

import type { LanguageModel } from "ai";
import type { TextAnswer, TextModel, TextRequest } from "../model/models.ts";
import { loadOptional } from "../model/optional-package.ts";
import type { CallOptions, LanguageModelOptions } from "./call-options.ts";
import { type CallState, modelFailure } from "./model-failure.ts";

export const DEFAULT_TIMEOUT_MS = 120_000;
export const DEFAULT_RETRIES = 2;

/** `load` runs with the first call. */
export function textModel(
  name: string,
  load: () => Promise<LanguageModel>,
  { maxInputTokens, ...call }: Omit<LanguageModelOptions, "name">,
): TextModel {
  return {
    name,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    generate: (request) => askModel(name, load, request, call),
  };
}

/** Throws `model_failed`. Stops at once on the request's signal, even if the model does not. */
async function askModel(
  name: string,
  load: () => Promise<LanguageModel>,
  request: TextRequest,
  { timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES }: CallOptions,
): Promise<TextAnswer> {
  const { system, prompt, maxOutputTokens, signal } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
  try {
    return await untilStopped(stop, async () => {
      const { generateText } = await loadOptional("ai", "language models need", () => import("ai"));
      const { text, finishReason } = await generateText({
        model: await load(),
        instructions: system,
        prompt,
        maxRetries,
        abortSignal: stop,
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      });
      return { text, finishReason };
    });
  } catch (error) {
    throw modelFailure(name, error, stateOf(signal, timeout, timeoutMs));
  }
}

/** The state of a failed call. */
export function stateOf(
  signal: AbortSignal | undefined,
  timeout: AbortSignal,
  timeoutMs: number,
): CallState {
  if (signal?.aborted === true) return { ended: "stopped" };
  return timeout.aborted ? { ended: "timeout", timeoutMs } : { ended: "failed" };
}

/** Abandons a model that ignores the signal. */
async function untilStopped<Result>(
  stop: AbortSignal,
  ask: () => Promise<Result>,
): Promise<Result> {
  stop.throwIfAborted();
  let leave = () => {};
  const stopped = new Promise<never>((_, reject) => {
    leave = () => reject(stop.reason);
    stop.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([ask(), stopped]);
  } finally {
    stop.removeEventListener("abort", leave);
  }
}
