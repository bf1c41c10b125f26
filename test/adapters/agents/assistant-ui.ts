import type {
  AppendMessage,
  ChatModelAdapter,
  ThreadAssistantMessagePart,
} from "@assistant-ui/core";
import { LocalRuntimeCore } from "@assistant-ui/core/internal";
import { threadHistory } from "../../../src/adapters/assistant-ui/index.ts";
import { answerTo, type RunTurn } from "./agent.ts";

/** The loop is the model adapter's, as where a server runs the tools; each part is shown as it comes. */
function scriptedModel(look: () => Promise<string>): ChatModelAdapter {
  return {
    async *run() {
      const call = {
        type: "tool-call",
        toolCallId: crypto.randomUUID(),
        toolName: "look",
        args: {},
        argsText: "{}",
      } as const satisfies ThreadAssistantMessagePart;
      yield { content: [call] };
      const result = await look();
      const content = [{ ...call, result }, { type: "text", text: answerTo(result) } as const];
      yield { content, status: { type: "complete", reason: "stop" } };
    },
  };
}

const typed = (text: string, parentId: string | null): AppendMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  attachments: [],
  metadata: { custom: {} },
  createdAt: new Date(),
  parentId,
  sourceId: null,
  runConfig: {},
});

/** The package's runtime, without a page. */
export const runTurn: RunTurn = async (memory, request, look) => {
  const history = threadHistory(memory, { threadId: "chat" });
  const adapters = { chatModel: scriptedModel(look), history };
  const runtime = new LocalRuntimeCore({ adapters }, undefined);
  const thread = runtime.threads.getMainThreadRuntimeCore();
  await thread.__internal_load();
  await thread.append(typed(request, thread.messages.at(-1)?.id ?? null));
  const part = thread.messages.at(-1)?.content.at(-1);
  return part?.type === "text" ? part.text : "";
};
