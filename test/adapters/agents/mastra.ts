import { Agent } from "@mastra/core/agent";
import { MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { mastraMemory } from "../../../src/adapters/mastra/index.ts";
import { answerTo, type RunTurn } from "./agent.ts";

// Tests send nothing over the network.
process.env["MASTRA_TELEMETRY_DISABLED"] = "1";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** `asked` receives the model's input. */
function scriptedModel(
  seen: () => string | undefined,
  asked: (prompt: unknown) => void,
): MockLanguageModelV3 {
  const doStream = async ({ prompt }: { readonly prompt: unknown }) => {
    asked(prompt);
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
  return new MockLanguageModelV3({ doStream } as never);
}

/** As a host sets it up: one line names our domain. */
export function createAgent(
  memory: Parameters<typeof mastraMemory>[0],
  look: () => Promise<string>,
  asked: (prompt: unknown) => void = () => undefined,
): { readonly agent: Agent; readonly memory: Memory } {
  const storage = new MastraCompositeStore({
    id: "backscroll",
    domains: { memory: mastraMemory(memory, { MemoryStorage }) },
  });
  let seen: string | undefined;
  const tool = createTool({
    id: "look",
    description: "Looks.",
    inputSchema: z.object({}),
    execute: async () => {
      seen = await look();
      return { seen };
    },
  });
  const kept = new Memory({
    storage,
    options: { lastMessages: 20, workingMemory: { enabled: true, scope: "resource" } },
  });
  const agent = new Agent({
    id: "coder",
    name: "coder",
    instructions: "Look, and say what you saw.",
    model: scriptedModel(() => seen, asked) as never,
    tools: { look: tool },
    memory: kept,
  });
  return { agent, memory: kept };
}

export const runTurn: RunTurn = async (memory, request, look) => {
  const { agent } = createAgent(memory, look);
  const place = { thread: "chat", resource: "ana" };
  const output = await agent.stream(request, { memory: place, maxSteps: 3, savePerStep: true });
  return (await output.getFullOutput()).text;
};
