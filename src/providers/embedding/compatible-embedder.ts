/**
 * An embedding model behind a server with OpenAI's `/v1/embeddings`: Ollama, LM Studio, vLLM,
 * llama.cpp, or a hosted one.
 *
 * Only the configured address gets text: a redirect is a failure.
 */

import { backOffMs, pause, withJitter } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder, EmbedderUse, Vector } from "../../model/models.ts";
import { requireAllowed } from "../../policy.ts";
import { DEFAULT_TIMEOUT_MS, stateOf } from "../ask-model.ts";
import { checkBaseUrl } from "../language-model.ts";
import { modelFailure } from "../model-failure.ts";

export interface CompatibleEmbedderOptions extends EmbedderOptions {
  /** Up to the version, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** The server's own name of the model. */
  readonly model: string;
  /** Sent as a bearer token; local servers usually need none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function compatibleEmbedder(options: CompatibleEmbedderOptions): Embedder {
  const { baseUrl, model, apiKey, headers, dimensions } = checkFields(
    options,
    "options",
    INPUTS.compatibleEmbedder,
  );
  checkBaseUrl(baseUrl);
  if (!LOOPBACK.test(new URL(baseUrl).hostname)) requireAllowed("remoteEmbedders");
  if (typeof model !== "string" || model.trim() === "") {
    throw invalid("model", "model must be the name that the server knows the model under");
  }
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions >= 1)) {
    throw invalid("dimensions", "dimensions must be a whole number of at least 1");
  }
  const url = `${baseUrl.replace(/(?<!\/)\/+$/, "")}/embeddings`;
  const sent = new Headers({ "content-type": "application/json", ...headers });
  if (apiKey !== undefined) sent.set("authorization", `Bearer ${apiKey}`);
  const size = dimensions === undefined ? undefined : { dimensions };
  return retryingEmbedder(options.name ?? model, options, async (input, signal) => {
    const body = JSON.stringify({ model, input, encoding_format: "float", ...size });
    const response = await fetch(url, {
      method: "POST",
      headers: sent,
      body,
      redirect: "manual",
      signal,
    });
    if (response.status !== 200) throw await httpFailure(response);
    return readAnswer(await response.json().catch(() => undefined), input.length);
  });
}

/** In the shape of the AI SDK's errors, which `modelFailure` explains. */
async function httpFailure(response: Response): Promise<Error> {
  const isRedirect = response.status >= 300 && response.status < 400;
  const responseBody = isRedirect ? "" : await response.text().catch(() => "");
  return Object.assign(new Error(`HTTP status ${response.status}`), {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody,
  });
}

interface WireAnswer {
  readonly data?: readonly { readonly index?: number; readonly embedding?: unknown }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly total_tokens?: number };
}

function readAnswer(answer: unknown, count: number): EmbeddingAnswer {
  const { data, usage } = (answer ?? {}) as WireAnswer;
  const vectors: number[][] = [];
  for (const [i, { index = i, embedding }] of (Array.isArray(data) ? data : []).entries()) {
    if (Array.isArray(embedding)) vectors[index] = embedding as number[];
  }
  if (vectors.length !== count || vectors.includes(undefined as never)) {
    const message = `the server gave ${vectors.length} vectors for ${count} texts`;
    throw Object.assign(new Error(message), { statusCode: 200 });
  }
  return { vectors, tokens: Number(usage?.prompt_tokens ?? usage?.total_tokens ?? 0) || 0 };
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

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

interface EmbeddingAnswer {
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
