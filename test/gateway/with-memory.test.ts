/** Answers through the real SDK and a real connection: `withMemory`, and what `generate` streams. */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generate, generateStream, generateTitle, withMemory } from "../../src/gateway/index.ts";
import { type Engine, open, type SessionHandle } from "../../src/index.ts";
import { compatibleModel } from "../../src/models.ts";
import {
  type Answer,
  failsWith,
  keepsSilent,
  type ModelServer,
  says,
  startModelServer,
} from "../support/model-server.ts";
import { streams, streamsByteByByte } from "../support/streamed-answer.ts";

let memory: Engine;
let server: ModelServer;
beforeAll(async () => {
  memory = await open(":memory:");
  server = await startModelServer();
});
afterAll(async () => {
  await memory.close();
  await server.close();
});

const USAGE = { input: 100, output: 5 };
const add = tool({
  inputSchema: jsonSchema<{ a: number; b: number }>({
    type: "object",
    required: ["a", "b"],
    properties: { a: { type: "number" }, b: { type: "number" } },
  }),
  execute: async ({ a, b }) => a + b,
});
const CALL = { calls: [{ id: "c1", name: "add", input: { a: 1, b: 2 } }], usage: USAGE };

function start(): Promise<SessionHandle> {
  return memory.createSession({ agent: "coder", createdBy: "ana" });
}

async function logOf(session: SessionHandle): Promise<string[]> {
  const { messages } = await session.listMessages();
  return messages.map(({ actor, blocks }) => {
    const parts = blocks.map((b) =>
      b.type === "text" ? b.text : b.type === "tool_result" ? `= ${b.output}` : b.type,
    );
    return `${actor}: ${parts.join(" ")}`;
  });
}

/** The messages of the last request, without system messages. */
function lastAsked(): string[] {
  const { messages = [] } = server.requests.at(-1) ?? {};
  return messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => `${role}: ${typeof content === "string" ? content : ""}`);
}

const failure = (status: number, message: string): Answer => {
  const body = JSON.stringify({ error: { message, type: "invalid_request_error" } });
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };
};

describe("a model with memory", () => {
  function remembering(session: SessionHandle) {
    const provider = createOpenAICompatible({ name: "t", baseURL: server.url, includeUsage: true });
    const model = provider.chatModel("test-model");
    return withMemory(model, { memory, conversationId: session.id });
  }

  test("knows earlier calls, though the app sends only new messages", async () => {
    const session = await start();
    const model = remembering(session);
    server.answer(says("Hello Ana."), says("Your name is Ana."));
    await generateText({ model, instructions: "Be kind.", prompt: "I am Ana." });
    const { text } = await generateText({ model, prompt: "Who am I?" });
    expect(text).toBe("Your name is Ana.");
    expect(lastAsked()).toEqual(["user: I am Ana.", "assistant: Hello Ana.", "user: Who am I?"]);
    expect(server.requests[0]?.system).toBe("Be kind.");
    expect(await logOf(session)).toEqual([
      "ana: I am Ana.",
      "coder: Hello Ana.",
      "ana: Who am I?",
      "coder: Your name is Ana.",
    ]);
  });

  test("stores nothing twice when the app sends the whole conversation", async () => {
    const session = await start();
    const model = remembering(session);
    server.answer(says("Two."));
    await generateText({
      model,
      messages: [
        { role: "user", content: "One?" },
        { role: "assistant", content: "One." },
        { role: "user", content: "Two?" },
      ],
    });
    server.answer(says("Three."));
    await generateText({
      model,
      messages: [
        { role: "user", content: "Two?" },
        { role: "assistant", content: "Two." },
        { role: "user", content: "Three?" },
      ],
    });
    expect(await logOf(session)).toEqual([
      "ana: One?",
      "coder: One.",
      "ana: Two?",
      "coder: Two.",
      "ana: Three?",
      "coder: Three.",
    ]);
  });

  test("stores a message once, however often the SDK retries", async () => {
    const session = await start();
    server.answer(failsWith(503, { "retry-after": "0" }), says("At last."));
    await generateText({ model: remembering(session), prompt: "Hello?" });
    expect(await logOf(session)).toEqual(["ana: Hello?", "coder: At last."]);
  });

  test("streams, and stores calls of tools with the results that the SDK sends back", async () => {
    const session = await start();
    server.answer(streams(CALL), streams({ text: ["It ", "is 3."], usage: USAGE }));
    const { textStream } = streamText({
      model: remembering(session),
      tools: { add },
      stopWhen: isStepCount(3),
      prompt: "1 + 2?",
    });
    let text = "";
    for await (const piece of textStream) text += piece;
    expect(text).toBe("It is 3.");
    expect(await logOf(session)).toEqual([
      "ana: 1 + 2?",
      "coder: tool_use",
      "add: = 3",
      "coder: It is 3.",
    ]);
    const { messages } = await session.listMessages();
    expect(messages.at(-1)).toMatchObject({ model: "test-model", usage: { inputTokens: 100 } });
  });

  test("retries with less when the context was too long", async () => {
    const session = await start();
    for (let i = 0; i < 10; i++) {
      await session.append([
        { role: "user", actor: "ana", content: `question ${i} ${"word ".repeat(300)}` },
        { role: "assistant", actor: "coder", content: `answer ${i}` },
      ]);
    }
    server.answer(failure(400, "prompt is too long: 9 tokens > 2000 maximum"), says("Fine."));
    const { text } = await generateText({ model: remembering(session), prompt: "And now?" });
    expect([text, server.requests.length]).toEqual(["Fine.", 2]);
    expect((await session.usage()).compaction).not.toBeNull();
  });
});

describe("an answer over a real connection", () => {
  const model = () => compatibleModel({ baseUrl: server.url, model: "m", maxRetries: 0 });

  test("runs the AI SDK's tools, and validates their arguments", async () => {
    const session = await start();
    const wrong = { calls: [{ id: "c0", name: "add", input: "{broken" }], usage: USAGE };
    server.answer(streams(wrong), streams(CALL), streams({ text: ["3."], usage: USAGE }));
    const { text, steps } = await generate(memory, {
      conversationId: session.id,
      model: model(),
      message: "1 + 2?",
      tools: { add },
    });
    expect([text, steps]).toEqual(["3.", 3]);
    const [, , refused, , result] = (await session.listMessages()).messages;
    expect(refused?.blocks[0]).toMatchObject({ type: "tool_result", isError: true });
    expect(result?.blocks[0]).toMatchObject({ output: "3", isError: false });
  });

  test("requests the configured reasoning effort", async () => {
    const session = await start();
    server.answer(streams({ text: ["Hm."] }));
    const input = { conversationId: session.id, model: model(), message: "Think." };
    await generate(memory, { ...input, reasoning: "high" });
    await generate(memory, input);
    expect(server.requests.map(({ reasoning }) => reasoning)).toEqual(["high", undefined]);
  });

  test("is silent though every byte arrives separately", async () => {
    const session = await start();
    server.answer(streamsByteByByte({ text: [..."\nno_reply NO_REPLY "] }));
    const stream = generateStream(memory, {
      conversationId: session.id,
      model: model(),
      message: "tick",
    });
    const parts: string[] = [];
    for await (const { type } of stream) if (type !== "event") parts.push(type);
    expect([parts, (await stream.result).silent]).toEqual([[], true]);
  });

  test("keeps every character though every byte arrives separately", async () => {
    const session = await start();
    server.answer(streamsByteByByte({ text: ["NO_REPLY", " é€😀 is no token"] }));
    const input = { conversationId: session.id, model: model(), message: "tick" };
    expect((await generate(memory, input)).text).toBe("NO_REPLY é€😀 is no token");
  });

  test("stops at the signal and after its timeout, keeping the text so far", async () => {
    const session = await start();
    server.answer(streams({ text: ["Half"], hangs: true }));
    const stop = new AbortController();
    const stream = generateStream(memory, {
      conversationId: session.id,
      model: model(),
      message: "Go.",
      signal: stop.signal,
    });
    let entryId = "";
    const reading = (async () => {
      for await (const part of stream) {
        if (part.type === "start") entryId = part.entryId;
        if (part.type === "text") stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ details: { kind: "aborted" } });
    expect(await session.getEntry(entryId)).toMatchObject({ status: "aborted" });
    server.answer(keepsSilent());
    const late = generate(memory, { conversationId: session.id, model: model(), timeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ details: { kind: "timeout" } });
    expect(await logOf(session)).toEqual(["ana: Go."]);
  });

  test("has a title on request", async () => {
    const session = await start();
    await session.append({
      role: "user",
      actor: "ana",
      content: "Why does the cron job run twice?",
    });
    server.answer(streams({ text: ['## "The cron ', 'job"\nThat is the title.'] }));
    expect(await generateTitle(session, { model: model() })).toBe("The cron job");
    expect((await session.meta()).title).toBe("The cron job");
    server.answer(streams({ text: ['""'] }));
    await expect(generateTitle(session, { model: model() })).rejects.toMatchObject({
      code: "model_failed",
    });
    await expect(generateTitle(await start(), { model: model() })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});
