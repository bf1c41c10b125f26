import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CLAUDE_AI } from "./claude-ai.ts";

const EXPORT = fixture("claude-ai/conversations.json");

describe("an export of Claude.ai", () => {
  test("has a session for each conversation, with its branches", async () => {
    const { sessions, problems } = await readWith(CLAUDE_AI, EXPORT);
    expect(sessions.map(({ session }) => session)).toMatchObject([
      { id: "k-1", title: "Tides", startedAt: Date.UTC(2025, 5, 1, 10) },
      { id: "k-2", title: null },
    ]);
    expect(sessions.map(({ entries }) => outline(entries))).toEqual([
      [
        "m-1<null user: When is high tide?\n06:12 high",
        "m-2<m-1 assistant: [thinking] [web_search] Let me look.",
        "m-2/1<m-2 tool: [result]",
        "m-2/2<m-2/1 assistant: [opaque] It is at 06:12.",
        "m-3<m-2/2 user: And low?",
        "m-4<m-2/2 user: Is that so?",
      ],
      ["n-1<null user: Hello.", "n-2<n-1 assistant: Hi."],
    ]);
    expect(problems).toMatchObject([{ code: "unexpected", message: /"robot"/ }]);
  });

  test("pairs calls and results without ids, and keeps unknown fields", async () => {
    const { sessions } = await readWith(CLAUDE_AI, EXPORT);
    const [question, answer, result] = sessions[0]?.entries ?? [];
    expect(answer?.blocks.at(-1)).toMatchObject({ id: "m-2/call-2", input: '{"query":"tide"}' });
    expect(result).toMatchObject({
      role: "tool",
      actor: "web_search",
      blocks: [{ toolUseId: "m-2/call-2", output: "06:12", isError: false }],
    });
    expect(question?.blocks[1]).toMatchObject({ attachment: { file_name: "tides.txt" } });
    expect(sessions[0]?.session.metadata).toMatchObject({
      source: { fields: { summary: "About tides.", account: { uuid: "u" } } },
    });
  });

  test("that is cut off gives its complete part", async () => {
    const { sessions, problems } = await readWith(CLAUDE_AI, EXPORT.slice(0, -60));
    expect(sessions.map(({ session }) => session.id)).toEqual(["k-1"]);
    expect(problems.map(({ code }) => code)).toEqual(["unexpected", "not_json"]);
  });
});
