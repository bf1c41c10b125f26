/** What each provider returned is stored whole: its words, calls, results, thoughts, counts, model. */

import { generateText, isStepCount, streamText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type ServedStore, serveStore } from "../client/client.cases.ts";
import type { SessionApi } from "../engine/interfaces.ts";
import { open } from "../open.ts";
import {
  fromAnthropic,
  fromGoogle,
  fromMistral,
  fromModelMessages,
  fromOpenAIChat,
  fromOpenAIResponses,
} from "./index.ts";

const usage = (input: number, output: number) => ({
  inputTokens: { total: input, noCache: input - 2, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 },
});

const THOUGHT = {
  type: "reasoning",
  text: "Look first.",
  providerMetadata: { anthropic: { signature: "c2ln" } },
};
const CALL = { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"path":"a"}' };

/** Thinks, calls a tool, then answers. */
function scripted(): MockLanguageModelV4 {
  let step = 0;
  const answer = () =>
    step++ === 0
      ? { content: [THOUGHT, CALL], finish: "tool-calls", usage: usage(10, 5) }
      : {
          content: [{ type: "text", text: "It holds 42." }],
          finish: "stop",
          usage: usage(20, 7),
        };
  return new MockLanguageModelV4({
    modelId: "claude-x",
    doGenerate: async () => {
      const { content, finish, usage } = answer();
      return { content, usage, finishReason: { unified: finish, raw: finish }, warnings: [] };
    },
    doStream: async () => {
      const { content, finish, usage } = answer();
      const parts = (content as readonly object[]).flatMap((part) => {
        if (!("text" in part)) return [part];
        const { type: kind, providerMetadata } = part as Partial<typeof THOUGHT>;
        return [
          { type: `${kind}-start`, id: "1" },
          { type: `${kind}-delta`, id: "1", delta: part.text },
          { type: `${kind}-end`, id: "1", ...(providerMetadata && { providerMetadata }) },
        ];
      });
      const finishReason = { unified: finish, raw: finish };
      const end = { type: "finish", finishReason, usage };
      return {
        stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, end]),
      };
    },
  } as never);
}

const READ = tool({
  inputSchema: z.object({ path: z.string() }),
  execute: async () => ({ lines: ["42"] }),
});
const ask = () => ({
  model: scripted(),
  prompt: "What is in a?",
  tools: { read: READ },
  stopWhen: isStepCount(3),
});

const STORED = [
  {
    role: "assistant",
    model: "claude-x",
    usage: { inputTokens: 8, outputTokens: 5, cacheReadTokens: 2, cacheCreationTokens: 0 },
    blocks: [
      { type: "thinking", text: "Look first.", signature: "c2ln" },
      { type: "tool_use", id: "c1", name: "read", input: { path: "a" } },
    ],
  },
  {
    role: "tool",
    blocks: [
      {
        type: "tool_result",
        toolUseId: "c1",
        toolName: "read",
        output: '{"lines":["42"]}',
        isError: false,
      },
    ],
  },
  {
    role: "assistant",
    model: "claude-x",
    usage: { inputTokens: 18, outputTokens: 7 },
    blocks: [{ type: "text", text: "It holds 42." }],
  },
];

describe("the result of the AI SDK", () => {
  let served: ServedStore;
  beforeAll(async () => {
    served = await serveStore({}, afterAll);
  });

  async function readBack(session: SessionApi) {
    return (await served.engine.listMessages(session.id)).messages;
  }

  test.each(["engine", "remote"] as const)(
    "is appended as it is to the %s's session",
    async (at) => {
      const session = await served[at].createSession({ agent: "coder", createdBy: "ana" });
      expect(await session.append(await generateText(ask()))).toHaveLength(3);
      expect(await readBack(session)).toMatchObject(STORED);
      const { hits } = await served.engine.searchSessions("holds 42");
      expect(hits.map(({ sessionId }) => sessionId)).toContain(session.id);
    },
  );

  test("may still be streaming: the append waits for its end", async () => {
    const session = await served.engine.createSession({ agent: "coder", createdBy: "ana" });
    const result = streamText(ask());
    const appended = session.append(result);
    await result.consumeStream();
    expect(await appended).toHaveLength(3);
    expect(await readBack(session)).toMatchObject(STORED);
  });

  test("of earlier versions repeats its messages with every step", async () => {
    const result = await generateText(ask());
    const [first, second] = result.steps;
    const all = [...(first?.response.messages ?? []), ...(second?.response.messages ?? [])];
    const steps = [first, { ...second, response: { ...second?.response, messages: all } }];
    expect(fromModelMessages({ steps })).toEqual(fromModelMessages(result));
  });

  test("is refused in pieces, with the name of what converts it", async () => {
    const session = await served.engine.createSession({ agent: "coder", createdBy: "ana" });
    const [message] = (await generateText(ask())).steps[0]?.response.messages ?? [];
    await expect(session.append(message as never)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("fromModelMessages"),
    });
    const item = { type: "function_call", call_id: "c", name: "read", arguments: "{}" };
    await expect(session.append({ role: "assistant", content: [item] })).rejects.toMatchObject({
      message: expect.stringContaining("fromOpenAIResponses"),
    });
  });
});

const counted = { inputTokens: 70, outputTokens: 9, cacheReadTokens: 30, cacheCreationTokens: 0 };

test("a completion of OpenAI", () => {
  const completion = {
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "gpt-5",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: null,
          refusal: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "read", arguments: '{"a": 1}' } },
          ],
        },
      },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 9,
      total_tokens: 109,
      prompt_tokens_details: { cached_tokens: 30 },
    },
  };
  const content = [{ type: "tool_use", id: "c1", name: "read", input: '{"a": 1}' }];
  const answer = { role: "assistant", content, model: "gpt-5", usage: counted };
  expect(fromOpenAIChat(completion)).toEqual([answer]);
});

test("a response of OpenAI: what the model wrote in a row is one message", () => {
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };
  const response = {
    object: "response",
    model: "gpt-5",
    output: [
      reasoning,
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "I look.", annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" },
    ],
    usage: { input_tokens: 100, output_tokens: 9, input_tokens_details: { cached_tokens: 30 } },
  };
  expect(fromOpenAIResponses(response)).toEqual([
    {
      role: "assistant",
      model: "gpt-5",
      usage: counted,
      content: [
        { type: "opaque", provider: "openai", json: JSON.stringify(reasoning) },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "read", input: "{}" },
      ],
    },
  ]);
  expect(fromOpenAIResponses("Hello")).toEqual([
    { role: "user", content: [{ type: "text", text: "Hello" }] },
  ]);
});

test("a message of Anthropic, and results in a user's message", () => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "x" },
      { type: "text", text: "I look.", citations: null },
      { type: "tool_use", id: "t1", name: "read", input: { path: "a" } },
    ],
    usage: {
      input_tokens: 70,
      output_tokens: 9,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 0,
    },
  };
  const answer = {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: "no such file", is_error: true },
      { type: "text", text: "Try b." },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo" } },
    ],
  };
  expect(fromAnthropic([message, answer])).toEqual([
    {
      role: "assistant",
      model: "claude-sonnet-4-5",
      usage: counted,
      content: [
        { type: "thinking", text: "Hm.", signature: "c2ln" },
        {
          type: "opaque",
          provider: "anthropic",
          json: '{"type":"redacted_thinking","data":"x"}',
        },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "t1", name: "read", input: '{"path":"a"}' },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool_result", toolUseId: "t1", output: "no such file", isError: true }],
    },
    {
      role: "user",
      content: [
        { type: "text", text: "Try b." },
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo" },
      ],
    },
  ]);
});

describe("Google", () => {
  const call = { role: "model", parts: [{ functionCall: { name: "read", args: { path: "a" } } }] };
  const response = { name: "read", response: { output: "42" } };

  test("a response: thoughts are counted, and signed in their place", () => {
    const parts = [
      { text: "Hm.", thought: true },
      { functionCall: { id: "c1", name: "read", args: {} }, thoughtSignature: "c2ln" },
    ];
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
    };
    const candidates = [{ content: { role: "model", parts }, finishReason: "STOP" }];
    expect(fromGoogle({ candidates, usageMetadata, modelVersion: "gemini-2.5-pro" })).toEqual([
      {
        role: "assistant",
        model: "gemini-2.5-pro",
        usage: counted,
        content: [
          { type: "thinking", text: "Hm." },
          { type: "tool_use", id: "c1", name: "read", input: "{}", thoughtSignature: "c2ln" },
        ],
      },
    ]);
  });

  test("without ids: a response is that of the call of its name", () => {
    const [called, answered] = fromGoogle([
      call,
      { role: "user", parts: [{ functionResponse: response }] },
    ]);
    const [use, result] = [called?.content[0], answered?.content[0]];
    expect(use).toMatchObject({ type: "tool_use", name: "read", id: expect.any(String) });
    expect(result).toMatchObject({ toolUseId: (use as { id: string }).id, output: "42" });
    expect(() => fromGoogle([{ role: "user", parts: [{ functionResponse: response }] }])).toThrow(
      'no call of "read" stands before it',
    );
  });
});

test("a completion of Mistral's client, whose names are in camel case", () => {
  const message = {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "abcdefghi", function: { name: "read", arguments: { path: "a" } } }],
  };
  const usage = { promptTokens: 70, completionTokens: 9, totalTokens: 79 };
  expect(fromMistral({ model: "mistral-large", choices: [{ message }], usage })).toMatchObject([
    {
      role: "assistant",
      model: "mistral-large",
      usage: { inputTokens: 70, outputTokens: 9 },
      content: [{ type: "tool_use", id: "abcdefghi", name: "read", input: '{"path":"a"}' }],
    },
  ]);
});

test("what is no message of a provider is refused by its field", () => {
  expect(() => fromAnthropic([{ role: "model", content: [] }])).toThrow(
    'messages[0].role must be user, assistant or system, not "model"',
  );
  expect(() => fromModelMessages([{ role: "user" }])).toThrow(
    "messages[0].content must be text or a list of parts",
  );
  expect(() => fromOpenAIChat([7 as never])).toThrow("messages[0] must be an object");
});

test.each([
  ["fromOpenAIChat", { id: "c", choices: [{ message: { role: "assistant", content: "Hi." } }] }],
  ["fromOpenAIResponses", { id: "r", object: "response", output: [] }],
  ["fromAnthropic", { id: "m", role: "assistant", content: [], stop_reason: "end_turn" }],
  ["fromGoogle", { candidates: [{ content: { role: "model", parts: [] } }] }],
])(
  "an answer that %s converts is not appended as a message, and the error names it",
  async (converter, answer) => {
    await using memory = await open(":memory:");
    const session = await memory.createSession();
    await expect(session.append(answer as never)).rejects.toThrow(converter);
  },
);

test("a call without tools and spoken words of OpenAI are kept, and Google may answer nothing", () => {
  const audio = { id: "audio_1", data: "UklGRg", transcript: "It holds 42." };
  const talk = [
    { role: "assistant", content: null, function_call: { name: "read", arguments: "{}" } },
    { role: "function", name: "read", content: "42" },
    { role: "assistant", content: null, audio },
  ];
  expect(fromOpenAIChat(talk).map(({ content }) => content)).toEqual([
    [{ type: "tool_use", id: "read", name: "read", input: "{}" }],
    [{ type: "tool_result", toolUseId: "read", toolName: "read", output: "42", isError: false }],
    [{ type: "opaque", provider: "openai", json: JSON.stringify({ audio }) }],
  ]);
  for (const candidates of [[{ finishReason: "SAFETY" }], [], undefined]) {
    expect(fromGoogle({ candidates, promptFeedback: { blockReason: "SAFETY" } })).toEqual([]);
  }
});
