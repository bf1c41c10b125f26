import { expect, test } from "vitest";
import { findOverflow } from "./model-failure.ts";

/** Sentences in each provider's manner, with their window, if any. */
const OVERFLOWS: [text: string, windowTokens?: number][] = [
  ["prompt is too long: 213462 tokens > 200000 maximum", 200_000],
  ["input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000", 200_000],
  ["Input is too long for requested model."],
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    128_000,
  ],
  ['{"error":{"code":"context_length_exceeded"}}'],
  ["Your input exceeds the context window of this model. Please adjust your input and try again."],
  [
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    1_048_575,
  ],
  ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
  ["too many tokens: total number of tokens in the prompt cannot exceed 4081"],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ["Please reduce the length of the messages or completion."],
  [
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000.",
    131_072,
  ],
  ["The decoder prompt (length 9000) is longer than the maximum model length of 8192.", 8_192],
  ["prompt token count of 150000 exceeds the limit of 128000", 128_000],
  ["invalid params, context window exceeds limit (2013)"],
  ["Your request exceeded model token limit: 131072 (requested: 140000)", 131_072],
  ["Please reduce the length. Current length is 9001 while limit is 8192", 8_192],
  ["the request exceeds the available context size, try increasing it"],
  ["The number of tokens to keep from the initial prompt is greater than the context length."],
  ["prompt too long; exceeded max context length by 4 tokens"],
  ["Range of input length should be [1, 30720]"],
  ["model_context_window_exceeded"],
];

test.each(OVERFLOWS.map(([text, windowTokens]) => ({ text, windowTokens })))("$text", (told) => {
  const { text, windowTokens } = told;
  expect(findOverflow(text, 400)).toEqual(windowTokens === undefined ? {} : { windowTokens });
});

test.each([
  ["Rate limit reached: too many tokens per minute, try again in 2 s", 429],
  ["Too many requests", 429],
  ["You exceeded your current quota", 429],
  ["Invalid API key", 401],
  ["The model is overloaded", 529],
  ["max_tokens must be at least 1", 400],
  ["Internal server error", 500],
  ["", 400],
])("%j with status %d is no overflow", (text, status) => {
  expect(findOverflow(text, status)).toBeUndefined();
});

test("a request over a fixed limit is an overflow, with any status", () => {
  const text =
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.";
  expect(findOverflow(text, 429)).toEqual({});
});

test("a bare 413 is an overflow", () => {
  expect(findOverflow("", 413)).toEqual({});
});
