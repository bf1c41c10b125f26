import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { checkpointSaver } from "../../../src/adapters/langgraph/index.ts";
import { answerTo, type RunTurn } from "./agent.ts";

/** An empty request continues the interrupted turn. */
export const runTurn: RunTurn = async (memory, request, look) => {
  const { serde } = new MemorySaver();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => {
      const last = messages.at(-1);
      const call = { id: `call ${messages.length}`, name: "look", args: {} };
      const answer =
        last?.getType() === "tool"
          ? new AIMessage(answerTo(last.text))
          : new AIMessage({ content: "", tool_calls: [call] });
      return { messages: [answer] };
    })
    .addNode("tools", async ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? [];
      const result = { content: await look(), tool_call_id: call?.id ?? "" };
      return { messages: [new ToolMessage(result)] };
    })
    .addEdge("__start__", "agent")
    .addConditionalEdges("agent", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : "__end__",
    )
    .addEdge("tools", "agent")
    .compile({ checkpointer: checkpointSaver(memory, { serde }) });
  const input = request === "" ? null : { messages: [new HumanMessage(request)] };
  // `sync`: a step is stored before the next one begins, so that what a kill leaves is known.
  const config = { configurable: { thread_id: "chat" }, durability: "sync" } as const;
  const { messages } = await graph.invoke(input, config);
  return messages.at(-1)?.text ?? "";
};
