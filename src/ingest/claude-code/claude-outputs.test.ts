import { describe, expect, test } from "vitest";
import { readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CLAUDE_CODE } from "./claude-code.ts";

const FILE = fixture("claude-code/persisted.jsonl");
const SESSION = "5e55a000-0000-4000-8000-000000000003";
const PREVIEW = "<persisted-output>\nOutput too large. Preview:\nfirst line\n</persisted-output>";

async function outputs(path: string, files: Record<string, string>): Promise<unknown[]> {
  const { sessions } = await readWith(CLAUDE_CODE, FILE, { path, files });
  return (sessions[0]?.entries ?? []).flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.output] : [])),
  );
}

test("an output file beside the transcript is put in its place", async () => {
  const found = await outputs(`/p/${SESSION}.jsonl`, {
    [`${SESSION}/tool-results/b1.txt`]: "first line\nsecond line\n",
    [`${SESSION}/tool-results/toolu_2.json`]: '[{"type":"text","text":"from JSON"}]',
    // Named by a path outside: it is ignored.
    [`${SESSION}/tool-results/passwords.txt`]: "secret",
  });
  expect(found).toEqual(["first line\nsecond line\n", "from JSON", PREVIEW]);
});

test("entries keep their order beside external outputs", async () => {
  const files = { [`${SESSION}/tool-results/b1.txt`]: "x" };
  const { sessions } = await readWith(CLAUDE_CODE, FILE, { path: `/p/${SESSION}.jsonl`, files });
  expect(sessions[0]?.entries.map(({ sourceId }) => sourceId)).toEqual([
    "u1",
    "a2",
    "r3",
    "a4",
    "r5",
    "a6",
    "r7",
  ]);
});

test("a missing output file is shown as the model saw it, and counted", async () => {
  expect(await outputs(`/p/${SESSION}.jsonl`, {})).toEqual([PREVIEW, PREVIEW, PREVIEW]);
  const files = { [`${SESSION}/tool-results/b1.txt`]: "x".repeat(5 * 1024 * 1024) };
  const { problems } = await readWith(CLAUDE_CODE, FILE, { path: `/p/${SESSION}.jsonl`, files });
  expect(problems).toMatchObject([
    // The last has an invalid path.
    ...[7, 3, 5].map((line) => ({ code: "unreadable", line })),
  ]);
  // Without the files, only the lines remain.
  expect((await readWith(CLAUDE_CODE, FILE)).problems).toEqual([]);
});

test("sub-agents' outputs lie in the folder of their session", async () => {
  const files = { "../tool-results/b1.txt": "from the session" };
  const [first] = await outputs(`/p/${SESSION}/subagents/agent-a1.jsonl`, files);
  expect(first).toBe("from the session");
  const deep = { "../../../tool-results/b1.txt": "from the session" };
  const group = `/p/${SESSION}/subagents/workflows/w1/agent-a1.jsonl`;
  expect((await outputs(group, deep))[0]).toBe("from the session");
});

test("upper folders may have any name", async () => {
  const files = { [`${SESSION}/tool-results/b1.txt`]: "beside" };
  const [first] = await outputs(`/srv/subagents/projects/p/${SESSION}.jsonl`, files);
  expect(first).toBe("beside");
});

describe("an output on a line with several results", () => {
  async function read(file: string, results: Record<string, string>, extra: object = {}) {
    const content = Object.entries(results).map(([tool_use_id, text]) => ({
      type: "tool_result",
      tool_use_id,
      content: text,
    }));
    const line = JSON.stringify({
      parentUuid: null,
      isSidechain: false,
      type: "user",
      sessionId: "s",
      cwd: "/x",
      uuid: "1",
      timestamp: "2026-01-01T00:00:00Z",
      message: { role: "user", content },
      toolUseResult: { ...extra, persistedOutputPath: file },
    });
    const files = { "s/tool-results/b.txt": "all of it" };
    const reading = await readWith(CLAUDE_CODE, `${line}\n`, { path: "/p/s.jsonl", files });
    const blocks = reading.sessions[0]?.entries[0]?.blocks ?? [];
    const found = blocks.map((block) => (block.type === "tool_result" ? block.output : undefined));
    return { found, codes: reading.problems.map(({ code }) => code) };
  }

  test("belongs to the call that the file is named after", async () => {
    const results = { a: "<persisted-output>a", b: "<persisted-output>b" };
    const { found, codes } = await read("/s/tool-results/b.txt", results);
    expect([found, codes]).toEqual([["<persisted-output>a", "all of it"], []]);
  });

  test("belongs to the only replaced result", async () => {
    const results = { x: "its own", y: "<persisted-output>y" };
    const { found, codes } = await read("/s/tool-results/b.txt", results);
    expect([found, codes]).toEqual([["its own", "all of it"], []]);
  });

  test("is not assigned if its owner is unknown", async () => {
    const { found, codes } = await read("/s/tool-results/b.txt", { x: "its own", y: "and its" });
    expect([found, codes]).toEqual([["its own", "and its"], ["unreadable"]]);
  });

  test("is found with a long path, and beside a long result", async () => {
    const path = `/${"d".repeat(2000)}/s/tool-results/b.txt`;
    const { found } = await read(path, { a: "preview" }, { stdout: "x".repeat(2000) });
    expect(found).toEqual(["all of it"]);
  });
});
