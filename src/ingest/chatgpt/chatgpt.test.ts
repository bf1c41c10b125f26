import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CHATGPT } from "./chatgpt.ts";

const EXPORT = fixture("chatgpt/conversations.json");

describe("an export of ChatGPT", () => {
  test("has a session for each conversation", async () => {
    const { sessions, problems } = await readWith(CHATGPT, EXPORT);
    expect(sessions.map(({ session }) => session)).toMatchObject([
      { id: "c-1", title: "Bread", startedAt: 1700000000250, agent: "chatgpt" },
      { id: "c-2", title: "Empty", startedAt: 1700000200000 },
    ]);
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["unexpected", expect.stringContaining('"weather"')],
      ["unexpected", expect.stringContaining("without an id")],
    ]);
  });

  test("keeps every branch, and ends at the chosen answer", async () => {
    const { sessions } = await readWith(CHATGPT, EXPORT);
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      'q1<null user: How long does "bread" [rise]?',
      "a1<q1 assistant: An hour.",
      "a2<q1 assistant: [thinking]",
      "t1<a2 assistant: [python]",
      "r1<t1 tool: [result]",
      "a3<r1 assistant: [opaque] Sixty minutes.",
      "w1<a3 assistant: [opaque]",
    ]);
    expect(sessions[0]?.leaf).toBe("a1");
  });

  test("pairs a tool's message with the call above it, and has times and models", async () => {
    const { sessions } = await readWith(CHATGPT, EXPORT);
    const [question, , , call, result] = sessions[0]?.entries ?? [];
    expect(question?.createdAt).toBe(1700000001500);
    expect(call).toMatchObject({
      model: "o3",
      blocks: [{ id: "t1", name: "python", input: '{"text":"print(60)"}' }],
    });
    expect(result).toMatchObject({
      actor: "python",
      blocks: [{ toolUseId: "t1", toolName: "python", output: "60" }],
    });
  });

  test("that is damaged loses only the damaged conversation", async () => {
    const list = JSON.parse(EXPORT) as Record<string, unknown>[];
    const three = [list[0], list[1], { ...list[1], id: "c-3", title: "Third" }];
    const text = JSON.stringify(three).replace('"An hour."', '"An hour.');
    const { sessions, problems } = await readWith(CHATGPT, text);
    expect(sessions.map(({ session }) => session.id)).toEqual(["c-2", "c-3"]);
    expect(problems).toMatchObject([{ code: "not_json" }]);
  });

  test("that is cut off gives its complete part", async () => {
    const list = JSON.parse(EXPORT) as Record<string, unknown>[];
    const text = JSON.stringify([list[1], list[0]]).slice(0, -300);
    const { sessions, problems } = await readWith(CHATGPT, text);
    expect(sessions.map(({ session }) => session.id)).toEqual(["c-2"]);
    expect(problems).toMatchObject([{ code: "not_json" }]);
  });

  test("of a single conversation is read too", async () => {
    const [one] = JSON.parse(EXPORT) as unknown[];
    const { sessions } = await readWith(CHATGPT, JSON.stringify(one));
    expect(sessions).toHaveLength(1);
    expect(CHATGPT.recognise(Buffer.from(JSON.stringify(one)), "")).toBe(true);
  });

  test("with cycles and lost parents terminates, and reports them", async () => {
    const node = (id: string, parent: string, children: string[]) => ({
      id,
      parent,
      children,
      message: { author: { role: "user" }, content: { content_type: "text", parts: [id] } },
    });
    const mapping = {
      a: node("a", "b", ["b"]),
      b: node("b", "a", ["a"]),
      c: node("c", "gone", []),
    };
    const { sessions, problems } = await readWith(
      CHATGPT,
      JSON.stringify([{ title: "x", id: "i", mapping }]),
    );
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      "c<null user: c",
      "a<null user: a",
      "b<a user: b",
    ]);
    expect(problems.map(({ code }) => code)).toEqual(["missing_parent", "missing_parent"]);
  });
});
