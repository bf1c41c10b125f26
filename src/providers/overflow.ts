/**
 * Recognises context overflows by providers' messages.
 *
 * Providers share no error code. Only a call that overflowed is retried with a shorter context.
 */

export interface Overflow {
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
