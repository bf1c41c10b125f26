/** The backend of Claude's memory tool, called as the SDK's own helper calls it. */

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicMemory } from "../../src/adapters/anthropic-memory/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  test("the SDK's tool runner works on it, and Claude's notes are found", async () => {
    const memory = anthropicMemory(world.engine, { namespace: "users/ana" });
    const path = "/memories/zoo.md";
    const inputs = [
      { command: "view", path: "/memories" },
      { command: "create", path, file_text: "The wombat sleeps.\n" },
      { command: "str_replace", path, old_str: "sleeps", new_str: "eats" },
      { command: "insert", path, insert_line: 1, insert_text: "So does the emu.\n" },
      { command: "rename", old_path: path, new_path: "/memories/animals.md" },
      { command: "delete", path: "/memories/none.md" },
      { command: "view", path: "/memories/animals.md" },
    ];
    const asked: unknown[] = [];
    const answers = inputs.map((input, n) => ({
      content: [{ type: "tool_use", id: `call_${n}`, name: "memory", input }],
      stop_reason: "tool_use",
    }));
    const client = new Anthropic({
      apiKey: "none",
      fetch: async (_url, init) => {
        const { messages } = JSON.parse(String(init?.body)) as {
          readonly messages: readonly { readonly content: unknown }[];
        };
        asked.push(messages.at(-1)?.content);
        const next = answers.shift() ?? {
          content: [{ type: "text", text: "Done." }],
          stop_reason: "end_turn",
        };
        const usage = { input_tokens: 1, output_tokens: 1 };
        return Response.json({ id: "m", type: "message", role: "assistant", usage, ...next });
      },
    });
    const last = await client.beta.messages.toolRunner({
      model: "claude-scripted",
      max_tokens: 1_024,
      tools: [betaMemoryTool(memory)],
      messages: [{ role: "user", content: "What do you know of the zoo?" }],
    });
    expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
    const results = asked
      .slice(1)
      .map(
        (content) => (content as [{ readonly content: string; readonly is_error?: boolean }])[0],
      );
    expect(results).toHaveLength(inputs.length);
    expect(results.filter(({ is_error }) => is_error === true)).toEqual([]);
    expect(results.at(-1)?.content).toContain("The wombat eats.");
    expect(results.at(-1)?.content).toContain("So does the emu.");
    expect((await memory.search("wombat")).map((file) => file.path)).toEqual([
      "/memories/animals.md",
    ]);
  });
});
