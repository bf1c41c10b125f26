import { generateText, type LanguageModel, modelMessageSchema } from "ai";
import { expect, test } from "vitest";
import type { Block } from "../../model/block.ts";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for the AI SDK", () => {
  expect(renderContext(STORY, "ai-sdk")).toEqual({
    instructions: "Be brief.",
    messages: [
      { role: "user", content: [{ type: "text", text: "What is in a.txt?" }] },
      {
        role: "assistant",
        content: [
          {
            type: "reasoning",
            text: "Two ways.",
            providerOptions: { anthropic: { signature: "c2lnbmVk" } },
          },
          { type: "text", text: "Let me look." },
          { type: "tool-call", toolCallId: "toolu_1", toolName: "read", input: { path: "a.txt" } },
          {
            type: "tool-call",
            toolCallId: "call20fbf6e6c88",
            toolName: "shell_run",
            input: { _raw: '{"command":' },
          },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "toolu_1",
            toolName: "read",
            output: {
              type: "content",
              value: [
                { type: "text", text: "hello" },
                { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } },
              ],
            },
          },
          {
            type: "tool-result",
            toolCallId: "call20fbf6e6c88",
            toolName: "shell_run",
            output: { type: "error-text", value: "no such command" },
          },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { type: "text", text: "And?" },
        ],
      },
    ],
  });
});

test("the SDK's own schema accepts it", () => {
  const { messages } = renderContext(STORY, "ai-sdk");
  expect(modelMessageSchema.array().parse(messages)).toEqual(messages);
});

test("the SDK passes it to a model", async () => {
  const prompts: unknown[] = [];
  const model = echo((prompt) => prompts.push(prompt));
  const { text } = await generateText({ model, ...renderContext(STORY, "ai-sdk") });
  expect(text).toBe("ok");
  expect(prompts).toMatchObject([
    [
      { role: "system", content: "Be brief." },
      { role: "user" },
      { role: "assistant" },
      { role: "tool" },
      { role: "user" },
    ],
  ]);
});

test("signatures are under their provider's name", () => {
  const call = { type: "tool_use", id: "x", name: "read", input: "{}", thoughtSignature: "c2ln" };
  const blocks = [{ type: "thinking", text: "Hm.", signature: "c2ln" }, call] as Block[];
  const message = { ...said("assistant", ""), blocks, model: "gemini-2.5-pro" };
  const providerOptions = { google: { thoughtSignature: "c2ln" } };
  expect(renderContext([message], "ai-sdk").messages[1]?.content).toEqual([
    { type: "reasoning", text: "Hm.", providerOptions },
    { type: "tool-call", toolCallId: "x", toolName: "read", input: {}, providerOptions },
  ]);
});

test("images are files, with data or a URL", () => {
  const url = "https://example.com/a";
  const blocks: Block[] = [
    { type: "image", data: PNG },
    { type: "image", url },
  ];
  expect(renderContext([{ ...said("user", ""), blocks }], "ai-sdk").messages[0]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: PNG },
    { type: "file", mediaType: "image", data: url },
  ]);
});

/** A model that answers "ok" to everything, in the SDK's terms. */
function echo(listen: (prompt: unknown) => void): LanguageModel {
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "echo",
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      listen(prompt);
      return {
        content: [{ type: "text", text: "ok" }],
        finishReason: { unified: "stop", raw: undefined },
        usage: {
          inputTokens: {
            total: undefined,
            noCache: undefined,
            cacheRead: undefined,
            cacheWrite: undefined,
          },
          outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error("not asked for")),
  };
}
