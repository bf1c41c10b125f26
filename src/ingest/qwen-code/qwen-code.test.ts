import { describe, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { QWEN_CODE } from "./qwen-code.ts";

const CHAT = fixture("qwen-code/chat.jsonl");
const PATH = "/home/ana/.qwen/projects/-srv-shop/chats/s-1.jsonl";

const EXPECTED = [
  "q1<null user: Which tests fail?",
  "q2<q1 assistant: [thinking] [shell] I run them.",
  "q3<q2 tool: [failed]",
  "q4<q3 custom:",
  "q5<q3 assistant: One fails.",
  "q6<q5 compaction: One test fails.",
  "q7<q6 custom:",
  "q8<q1 assistant: None.",
];

describe("a chat of Qwen Code", () => {
  test("is a tree of messages, tools and notes", async () => {
    const { sessions, problems } = await readWith(QWEN_CODE, CHAT, { path: PATH });
    expect(sessions[0]?.session).toMatchObject({
      id: "s-1",
      agent: "qwen-code",
      cwd: "/srv/shop",
      gitBranch: "main",
      startedAt: Date.UTC(2026, 0, 10, 9),
    });
    expect(outline(sessions[0]?.entries ?? [])).toEqual(EXPECTED);
    expect(problems).toMatchObject([{ line: 7, code: "unexpected", message: /"sketch"/ }]);
  });

  test("has usage, and tool results", async () => {
    const { sessions } = await readWith(QWEN_CODE, CHAT, { path: PATH });
    const [, answer, result, , , summary] = sessions[0]?.entries ?? [];
    expect(answer).toMatchObject({
      model: "qwen-coder",
      actor: "qwen-code",
      usage: { inputTokens: 60, outputTokens: 25, cacheReadTokens: 40, cacheCreationTokens: 0 },
      metadata: { source: { fields: { contextWindowSize: 1000 } } },
    });
    expect(result?.blocks).toMatchObject([
      { toolUseId: "call_1", toolName: "shell", output: "1 failed", isError: true },
    ]);
    expect(summary?.data).toMatchObject({ tokensBefore: 900 });
  });

  test("is the same in line-by-line reading", async () => {
    expect(outline(await readInSteps(QWEN_CODE, CHAT, { path: PATH }))).toEqual(EXPECTED);
  });

  test("with a lost parent continues after the previous entry", async () => {
    const { sessions, problems } = await readWith(
      QWEN_CODE,
      CHAT.split("\n").toSpliced(1, 1).join("\n"),
    );
    expect(outline(sessions[0]?.entries ?? [])[1]).toBe("q3<q1 tool: [failed]");
    expect(problems[0]).toMatchObject({ line: 2, code: "missing_parent" });
  });

  test("is found by its project, and resumed by its id", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const [place] = QWEN_CODE.places?.(environment) ?? [];
    expect(place?.root).toBe("/home/ana/.qwen/projects");
    expect(place?.matches("-srv-shop/chats/s-1.jsonl")).toBe(true);
    expect(QWEN_CODE.resumeCommand?.({ id: "s-1", cwd: null })).toBe("qwen --resume s-1");
  });
});
