/**
 * Explains a failed model call: the model and the kind of failure.
 *
 * The SDK's errors carry the whole request, and so the conversation. The kept cause has the error's
 * name, its shortened message and the network failure beneath, never the request.
 */

import { BackscrollError, type ErrorDetails, messageOf } from "../model/errors.ts";

/** The end state of a call. */
export type CallState =
  | { readonly ended: "stopped" }
  | { readonly ended: "timeout"; readonly timeoutMs: number }
  | { readonly ended: "failed" };

export function modelFailure(model: string, error: unknown, state: CallState): BackscrollError {
  // Not the model's: the SDK is not installed.
  if (BackscrollError.is(error, "invalid_input") && "package" in error.details) return error;
  const { kind, why, details } = explain(error, state);
  return new BackscrollError("model_failed", `the model ${model} gave no answer: ${why}`, {
    details: { model, kind, ...details },
    cause: safeCause(lastOf(error)),
  });
}

/** The kind of failure: `details.kind` of `model_failed`. */
export type FailureKind =
  | "aborted"
  | "timeout"
  | "connection"
  | "refused"
  /**
   * The context is too long for the model; `details.windowTokens` has the model's limit if the
   * provider reports it.
   */
  | "overflow"
  | "http"
  | "nonsense"
  | "unknown";

interface Explanation {
  readonly kind: FailureKind;
  readonly why: string;
  readonly details?: ErrorDetails;
}

function explain(error: unknown, state: CallState): Explanation {
  if (state.ended === "stopped") return { kind: "aborted", why: "the call was stopped" };
  if (state.ended === "timeout") {
    const { timeoutMs } = state;
    return { kind: "timeout", why: `it took longer than ${timeoutMs} ms`, details: { timeoutMs } };
  }
  const last = lastOf(error);
  const attempts = attemptsOf(error);
  const times = attempts > 1 ? `, ${attempts} times` : "";
  const status = numberOf(last, "statusCode");
  const overflow = overflowOf(last);
  if (overflow !== undefined) {
    const details = status === undefined ? overflow : { ...overflow, status };
    return { kind: "overflow", why: "the context is too long for it", details: { ...details } };
  }
  // Redirects are refused where text would reach another address.
  if (status !== undefined && status >= 300) {
    const refused = status === 401 || status === 403;
    return {
      kind: refused ? "refused" : "http",
      why: refused
        ? `the server refused the call with HTTP status ${status}; check the key`
        : `the server answered with HTTP status ${status}${times}`,
      details: { status, attempts },
    };
  }
  const network = networkCode(last);
  if (network !== undefined) {
    const lost = status === undefined ? "there was no connection" : "the connection broke off";
    return { kind: "connection", why: `${lost} (${network})${times}` };
  }
  // A status means an unusable answer.
  if (status !== undefined || UNREADABLE.test(nameOf(last))) {
    return { kind: "nonsense", why: "the server's answer could not be read" };
  }
  if (nameOf(last) === "AI_APICallError") {
    return { kind: "connection", why: `there was no connection${times}` };
  }
  return { kind: "unknown", why: `it failed with ${nameOf(last)}` };
}

/** The SDK's names of unreadable answers. */
const UNREADABLE =
  /^AI_(?:JSONParseError|TypeValidationError|InvalidResponseDataError|EmptyResponseBodyError|No\w+GeneratedError)$/;

/** After retries, the SDK wraps all attempts; the last one is used. */
function lastOf(error: unknown): unknown {
  return nameOf(error) === "AI_RetryError" ? (field(error, "lastError") ?? error) : error;
}

function attemptsOf(error: unknown): number {
  const errors = nameOf(error) === "AI_RetryError" ? field(error, "errors") : undefined;
  return Array.isArray(errors) ? errors.length : 1;
}

/** Whether a failure is a context overflow. */
export function overflowOf(error: unknown): Overflow | undefined {
  const last = lastOf(error);
  // The packages of OpenAI and Anthropic call it `status`.
  return findOverflow(wordsOf(last), numberOf(last, "statusCode") ?? numberOf(last, "status"));
}

/** All text of a failure, for matching only: it may quote the conversation. */
function wordsOf(error: unknown): string {
  const body = field(error, "responseBody");
  // A streaming failure is often a bare text, or an object that is not an Error.
  const message = typeof error === "string" ? error : field(error, "message");
  const code = field(error, "code");
  return [message, code, body].filter((words) => typeof words === "string").join("\n");
}

/** Causes nest a few levels; this also ends cycles. */
const MAX_DEPTH = 5;

/** Node's code of a failed connection, such as ECONNREFUSED. */
function networkCode(error: unknown): string | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && at !== undefined; depth++) {
    const code = field(at, "code");
    if (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code;
    at = field(at, "cause");
  }
  return undefined;
}

const MAX_MESSAGE = 200;

function safeCause(error: unknown): Error {
  const message = messageOf(error);
  const code = networkCode(error);
  const cause = new Error(message.slice(0, MAX_MESSAGE).toWellFormed());
  cause.name = nameOf(error);
  return code === undefined ? cause : Object.assign(cause, { code });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function numberOf(error: unknown, name: string): number | undefined {
  const value = field(error, name);
  return typeof value === "number" ? value : undefined;
}

function field(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Record<string, unknown>)[name]
    : undefined;
}

/**
 * Recognises context overflows by providers' messages.
 *
 * Providers share no error code. Only a call that overflowed is retried with a shorter context.
 */
interface Overflow {
  /** The model's window, if the message has it. */
  readonly windowTokens?: number;
}

/** Overflow messages by provider, case-insensitive; add new wordings here. */
const WORDINGS: readonly (readonly [provider: string, wording: RegExp])[] = [
  ["Anthropic", /prompt is too long/],
  ["Anthropic", /input length and `?max_tokens`? exceed context limit/],
  ["Anthropic", /request_too_large|request exceeds the maximum size/],
  ["Anthropic, Bedrock", /input is too long for (?:the )?requested model/],
  ["OpenAI", /context_length_exceeded|maximum context length (?:is|of)/],
  ["OpenAI", /input exceeds the context window|exceeds the context window of this model/],
  ["OpenAI", /your input exceeds|string_above_max_length/],
  ["OpenAI", /request too large for .{0,200}tokens per min.{0,200} limit \d+, requested \d+/],
  ["Google", /input token count .{0,200}exceeds the maximum/],
  ["Google", /exceeds the maximum number of tokens(?: allowed)?/],
  ["Bedrock", /too many input tokens|input tokens? exceeds?/],
  ["Mistral", /too large for model with \d+ maximum context length|prompt contains \d+ tokens/],
  ["Cohere", /too many tokens: total number of tokens in the prompt/],
  ["xAI", /maximum prompt length is \d+/],
  ["Groq", /reduce the length of the messages(?: or completion)?/],
  ["OpenRouter", /endpoint's maximum context length/],
  [
    "DeepSeek, Together, Fireworks, vLLM",
    /model's maximum context length|longer than the maximum model length/,
  ],
  [
    "Together",
    /inputs? tokens? \+ .{0,200}must be <=? ?\d+|`inputs` tokens \+ `max_new_tokens` must be/,
  ],
  [
    "GitHub Copilot",
    /prompt token count of \d+ exceeds the limit|model_max_prompt_tokens_exceeded/,
  ],
  ["MiniMax", /context window exceeds limit/],
  ["Moonshot", /exceeded model token limit/],
  ["Z.ai", /model_context_window_exceeded|prompt exceeds max length/],
  ["Alibaba", /range of input length should be/],
  ["Cerebras", /current length is \d+ while limit is \d+/],
  [
    "Perplexity, Azure",
    /context length exceeded|context_window_exceeded|exceeds? (?:the )?(?:available )?context (?:size|window|length)/,
  ],
  [
    "llama.cpp",
    /exceeds the available context size|exceed_context_size_error|context size exceeded/,
  ],
  ["LM Studio", /greater than the context length|tokens to keep from the initial prompt/],
  [
    "Ollama",
    /prompt too long; exceeded (?:max )?context length|input length exceeds (?:the )?(?:maximum )?context length/,
  ],
  [
    "many",
    /too many tokens|token limit exceeded|context (?:window|length) (?:is )?(?:exceeded|too (?:long|large))/,
  ],
];

/** A rate limit mentions tokens too; there, waiting helps and a shorter context does not. */
const RATE_LIMIT = /rate.?limit|too many requests|per (?:minute|min|day|hour)\b|throttl|quota/;

/** Patterns of the window's size in a message. */
const WINDOWS: readonly RegExp[] = [
  /> (\d[\d,]*) maximum/,
  /maximum (?:context|prompt|model) length (?:is|of) (\d[\d,]*)/,
  /with (\d[\d,]*) maximum context length/,
  /(?:maximum number of tokens(?: allowed)?|exceeds the limit of|limit is|context limit:.{0,200}>) ?\(?(\d[\d,]*)/,
  /(?:available )?context (?:size|length|window) (?:is |of )?\(?(\d[\d,]*)/,
  /token limit:? (\d[\d,]*)/,
];

/** Bodies may be large; the message is at their start. */
const MAX_LENGTH = 4_000;

/** Whether a failure is a context overflow. `text` is all of its text, `status` its HTTP status. */
export function findOverflow(text: string, status?: number): Overflow | undefined {
  const words = text.slice(0, MAX_LENGTH).toLowerCase();
  if (status === 429 && RATE_LIMIT.test(words) && !/requested \d+/.test(words)) return undefined;
  const isTold = WORDINGS.some(([, wording]) => wording.test(words));
  // A bare 413 also means that the request was too large.
  if (!isTold && status !== 413) return undefined;
  const windowTokens = windowOf(words);
  return windowTokens === undefined ? {} : { windowTokens };
}

function windowOf(words: string): number | undefined {
  for (const pattern of WINDOWS) {
    const digits = pattern.exec(words)?.[1]?.replaceAll(",", "");
    const tokens = Number(digits);
    // A number below 512 is not a window.
    if (digits !== undefined && tokens >= 512 && Number.isSafeInteger(tokens)) return tokens;
  }
  return undefined;
}
