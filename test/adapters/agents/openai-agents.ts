import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  tool,
  Usage,
} from "@openai/agents";
import { z } from "zod";
import { agentsSession } from "../../../src/adapters/openai-agents/index.ts";
import { answerTo, type RunTurn } from "./agent.ts";

class ScriptedModel implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const last = typeof input === "string" ? undefined : input.at(-1);
    const output: ModelResponse["output"] =
      last?.type === "function_call_result"
        ? [toMessage(answerTo((last.output as { readonly text: string }).text))]
        : [
            {
              type: "function_call",
              callId: `call ${input.length}`,
              name: "look",
              arguments: "{}",
              status: "completed",
            },
          ];
    return { usage: new Usage(), output };
  }

  // biome-ignore lint/correctness/useYield: the runs here do not stream.
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("no run here streams");
  }
}

function toMessage(text: string): ModelResponse["output"][number] {
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

export const runTurn: RunTurn = async (memory, request, look) => {
  const tools = [
    tool({ name: "look", description: "Looks.", parameters: z.object({}), execute: look }),
  ];
  const agent = new Agent({ name: "coder", tools, model: new ScriptedModel() });
  const session = agentsSession(memory, { sessionId: "chat" });
  const run = await new Runner({ tracingDisabled: true }).run(agent, request, { session });
  return String(run.finalOutput);
};
