import { expect, test } from "vitest";
import { BackscrollError } from "../../model/errors.ts";
import { isOverflow } from "./generate.ts";

function failure(message: string, fields: object): Error {
  return Object.assign(new Error(message), fields);
}

test.each([
  ["ours", new BackscrollError("model_failed", "x", { details: { kind: "overflow" } })],
  [
    "Anthropic's package",
    failure("400 prompt is too long: 210000 tokens > 200000 maximum", { status: 400 }),
  ],
  [
    "OpenAI's package",
    failure("400 status code", { status: 400, code: "context_length_exceeded" }),
  ],
  [
    "the AI SDK",
    failure("Bad Request", {
      statusCode: 400,
      responseBody:
        '{"message":"Input token count (9) exceeds the maximum number of tokens allowed (8)"}',
    }),
  ],
  [
    "the AI SDK after retries",
    failure("Failed after 3 attempts", {
      name: "AI_RetryError",
      lastError: failure("maximum context length is 8192 tokens", { statusCode: 400 }),
    }),
  ],
  ["a bare text", "context size exceeded"],
  ["HTTP status 413", failure("", { status: 413 })],
])("an overflow of %s is one", (_, error) => {
  expect(isOverflow(error)).toBe(true);
});

test.each([
  [
    "another failure of a model",
    new BackscrollError("model_failed", "x", { details: { kind: "http" } }),
  ],
  ["our own limit of a text", new BackscrollError("too_large", "too many tokens")],
  ["a rate limit", failure("Rate limit reached: too many tokens per min", { status: 429 })],
  ["a failed connection", failure("fetch failed", { code: "ECONNREFUSED" })],
  ["nothing", undefined],
])("%s is none", (_, error) => {
  expect(isOverflow(error)).toBe(false);
});
