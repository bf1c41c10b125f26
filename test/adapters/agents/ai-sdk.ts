import {
  convertToModelMessages,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { chatStore, resumableStreams } from "../../../src/adapters/ai-sdk/index.ts";
import { answerTo, type RunTurn } from "./agent.ts";

/** Readers of a stream whose producer died wait for its lease. */
export const STREAMS = { leaseMs: 1_000 } as const;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function scriptedModel(seen: () => string | undefined): MockLanguageModelV4 {
  const doStream = async () => {
    const output = seen();
    const chunks =
      output === undefined
        ? [
            { type: "tool-call", toolCallId: crypto.randomUUID(), toolName: "look", input: "{}" },
            { type: "finish", finishReason: { unified: "tool-calls", raw: "x" }, usage },
          ]
        : [
            { type: "text-start", id: "t" },
            { type: "text-delta", id: "t", delta: answerTo(output) },
            { type: "text-end", id: "t" },
            { type: "finish", finishReason: { unified: "stop", raw: "x" }, usage },
          ];
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...chunks]) };
  };
  return new MockLanguageModelV4({ doStream } as never);
}

export const runTurn: RunTurn = async (memory, request, look) => {
  const chats = chatStore<UIMessage>(memory);
  const asked: UIMessage = {
    id: crypto.randomUUID(),
    role: "user",
    parts: [{ type: "text", text: request }],
  };
  const messages = [...(await chats.load("chat")), asked];
  await chats.upsert("chat", asked);
  const producer = await resumableStreams(memory, STREAMS).start("chat");
  let seen: string | undefined;
  const execute = async () => {
    seen = await look();
    return seen;
  };
  const result = streamText({
    model: scriptedModel(() => seen),
    stopWhen: isStepCount(3),
    tools: { look: tool({ inputSchema: jsonSchema({ type: "object" }), execute }) },
    messages: await convertToModelMessages(messages),
  });
  const chunks = toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    generateMessageId: () => crypto.randomUUID(),
    onEnd: ({ messages: all }) => chats.save("chat", all),
  });
  for await (const _ of producer.pipe(chunks));
  return result.text;
};
