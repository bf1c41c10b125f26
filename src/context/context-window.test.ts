import { expect, test } from "vitest";
import { contextWindow } from "./context-window.ts";

test("the catalogue takes precedence over the host, and the host over the default", () => {
  expect(contextWindow("claude-sonnet-4-5", 50)).toEqual({ tokens: 200_000, source: "catalogue" });
  expect(contextWindow("my-own-model", 50)).toEqual({ tokens: 50, source: "config" });
  expect(contextWindow("my-own-model")).toEqual({ tokens: 200_000, source: "default" });
  expect(contextWindow(null)).toEqual({ tokens: 200_000, source: "default" });
});

test("prefixes of gateways are ignored, and specific names match before general ones", () => {
  expect(contextWindow("openai/GPT-4o-mini").tokens).toBe(128_000);
  expect(contextWindow("gpt-4").tokens).toBe(8_192);
  expect(contextWindow("gpt-4.1-nano").tokens).toBe(1_047_576);
  expect(contextWindow("google/gemini-1.5-pro-002").tokens).toBe(2_097_152);
  expect(contextWindow("o3").tokens).toBe(200_000);
  expect(contextWindow("gpt-40").tokens).toBe(8_192);
});
