/** An agent is killed in the middle of a turn; another process continues its session. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resumableStreams } from "../../src/adapters/ai-sdk/index.ts";
import { open } from "../../src/index.ts";
import { createFolder } from "../support/folder.ts";
import type { RunTurn } from "./agents/agent.ts";
import { runTurn as runAiSdk, STREAMS } from "./agents/ai-sdk.ts";
import { runTurn as runAssistantUi } from "./agents/assistant-ui.ts";
import { runTurn as runLangGraph } from "./agents/langgraph.ts";
import { runTurn as runMastra } from "./agents/mastra.ts";
import { runTurn as runOpenAiAgents } from "./agents/openai-agents.ts";

/** Resolves when the agent is in its second tool call, and has been killed there. */
async function killInTool(framework: string, address: string): Promise<void> {
  const main = join(import.meta.dirname, "agents/main.ts");
  const child = spawn(process.execPath, [main, framework, address], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const ended = once(child, "exit");
  const said = once(child.stdout, "data").then(([chunk]) => String(chunk));
  expect(await Promise.race([said, ended.then(([code]) => `ended with ${code}`)])).toContain(
    "looking",
  );
  child.kill("SIGKILL");
  await ended;
}

const AGENTS: readonly (readonly [string, RunTurn])[] = [
  ["ai-sdk", runAiSdk],
  ["assistant-ui", runAssistantUi],
  ["langgraph", runLangGraph],
  ["mastra", runMastra],
  ["openai-agents", runOpenAiAgents],
];

test.each(AGENTS)(
  "%s: a killed agent's session continues elsewhere",
  async (framework, runTurn) => {
    const address = join(createFolder(), "agent.db");
    await killInTool(framework, address);
    await using memory = await open(address, { inThread: true });
    const isFound = async (query: string) => (await memory.searchSessions(query)).hits.length > 0;
    expect(await isFound("quokka")).toBe(true);
    if (framework === "langgraph") {
      // The turn itself continues from the pending tool call.
      expect(await runTurn(memory, "", async () => "a numbat")).toBe("It was a numbat.");
      expect(await isFound("numbat")).toBe(true);
    }
    if (framework === "ai-sdk") {
      // Readers of the answer see its end.
      const left = await resumableStreams(memory, STREAMS).resume("chat");
      const types: string[] = [];
      for await (const { type } of left ?? []) types.push(type);
      expect(types.at(-1)).toBe("abort");
    }
    const answer = await runTurn(memory, "Which one was in the third?", async () => "a bilby");
    expect(answer).toBe("It was a bilby.");
    expect(await isFound("bilby")).toBe(true);
    expect(await isFound("quokka")).toBe(true);
    expect((await memory.listSessions()).sessions).toHaveLength(1);
  },
);
