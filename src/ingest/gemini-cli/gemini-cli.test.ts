import { describe, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import { GEMINI_CLI } from "./gemini-cli.ts";

const OBJECT = fixture("gemini-cli/session.json");
const LINES = fixture("gemini-cli/session.jsonl");
const CHATS = "/home/ana/.gemini/tmp/shop/chats";

async function read(content: string, path: string, files?: Record<string, string>) {
  const options = { path, ...(files === undefined ? {} : { files }) };
  const { sessions, ...rest } = await readWith(GEMINI_CLI, content, options);
  const [only] = sessions;
  return { session: only?.session, entries: only?.entries ?? [], leaf: only?.leaf, ...rest };
}

test("the session context that Gemini CLI injects is marked as injected", async () => {
  const user = (id: string, ...texts: string[]) => ({
    id,
    timestamp: "2026-11-17T13:34:03.546Z",
    type: "user",
    content: texts.map((text) => ({ text })),
  });
  const context = "<session_context>\nThis is the Gemini CLI.\n</session_context>";
  const lines = [
    { sessionId: "1c639d4b", projectHash: "d3fa", startTime: "2026-11-17T13:34:03.545Z" },
    { $set: { messages: [user("a", context)] } },
    user("b", "Where is the lock?"),
    user("c", context, "And where is the key?"),
  ];
  const content = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { entries } = await read(content, `${CHATS}/session-b.jsonl`);
  const marked = entries.map(({ sourceId, metadata }) => [sourceId, metadata["injected"]]);
  expect(marked).toEqual([
    ["a", true],
    ["b", undefined],
    ["c", undefined],
  ]);
});

describe("one object", () => {
  test("is a conversation with thoughts, calls and results", async () => {
    const { session, entries, leaf } = await read(OBJECT, `${CHATS}/session-a.json`);
    expect(session).toMatchObject({
      id: "5e0c1d2f-1111-4a4a-8b8b-000000000001",
      agent: "gemini-cli",
      cwd: null,
      startedAt: Date.UTC(2025, 10, 5, 8),
    });
    expect(outline(entries)).toEqual([
      "m1<null user: Which port is free?",
      "m2<m1 assistant: [thinking] [run_shell_command] [read_file] I look.",
      "m2/run_shell_command-1<m2 tool: [result]",
      "m2/read_file-2<m2/run_shell_command-1 tool: [failed]",
      "m3<m2/read_file-2 custom: Request cancelled.",
      "m4<m2/read_file-2 assistant: 8080 is free.",
      "m5<m4 custom:",
    ]);
    expect(leaf).toBe("m4");
  });

  test("has usage, model and tool results", async () => {
    const { entries, problems } = await read(OBJECT, "");
    expect(entries[1]).toMatchObject({
      model: "gemini-pro",
      createdAt: Date.UTC(2025, 10, 5, 8, 0, 4),
      usage: { inputTokens: 500, outputTokens: 50, cacheReadTokens: 400, cacheCreationTokens: 0 },
    });
    expect(entries[2]).toMatchObject({
      actor: "run_shell_command",
      createdAt: Date.UTC(2025, 10, 5, 8, 0, 6),
      blocks: [{ toolUseId: "run_shell_command-1", output: "22 80", isError: false }],
      metadata: { source: { fields: { displayName: "Shell", status: "success" } } },
    });
    expect(entries[3]?.blocks).toMatchObject([{ output: "no such file", isError: true }]);
    expect(problems).toEqual([
      { code: "unexpected", message: expect.stringContaining('"sketch"') },
    ]);
    expect(entries[6]?.data).toMatchObject({ type: "gemini-cli:sketch", data: { strokes: 3 } });
  });

  test("that is truncated is reported, and gives no session", async () => {
    const { session, problems } = await read(OBJECT.slice(0, 500), "");
    expect(session).toBeUndefined();
    expect(problems).toMatchObject([{ code: "not_json" }]);
  });
});

describe("lines", () => {
  const expected = [
    "u1<null user: Rename the table.",
    "g1<u1 assistant: [grep] I look.",
    "g1/grep-1<g1 tool: [result]",
    "g2<g1/grep-1 assistant: It is in schema.sql.",
    "u2<g2 user: Drop it.",
    "g3<u2 assistant: Dropped.",
    "u3<g2 user: Rename it to sales.",
    "g4<u3 assistant: Renamed.",
    "summary-1<g4 session_info:",
  ];

  test("give each message once, and a rewind as a branch", async () => {
    const { entries, leaf, problems } = await read(LINES, `${CHATS}/session-b.jsonl`);
    expect(outline(entries)).toEqual([
      ...expected.slice(0, 7),
      expected[8]?.replace("g4", "u3"),
      expected[7],
    ]);
    expect(leaf).toBe("g4");
    expect(problems).toMatchObject([{ line: 13, code: "unexpected", message: /\$weather/ }]);
  });

  test("are recognised without a file name", async () => {
    const { entries } = await read(LINES, "");
    expect(entries).toHaveLength(expected.length);
  });

  test("keep digits, and the displayed results", async () => {
    const { entries } = await read(LINES, `${CHATS}/session-b.jsonl`);
    expect(entries[1]?.blocks[1]).toMatchObject({
      input: '{"pattern":"orders","max":12345678901234567890}',
    });
    expect(entries[0]?.metadata).toMatchObject({
      source: { fields: { displayContent: [{ text: "Rename it." }] } },
    });
  });

  test("read one by one give a late call after its message", async () => {
    const steps = await readInSteps(GEMINI_CLI, LINES, { path: `${CHATS}/session-b.jsonl` });
    expect(outline(steps)).toEqual([
      "u1<null user: Rename the table.",
      "g1<u1 assistant: I look.",
      "g1+1<g1 assistant: [grep]",
      "g1/grep-1<g1+1 tool: [result]",
      ...expected.slice(3),
    ]);
    expect(steps.map(({ usage }) => usage?.outputTokens ?? 0)).toEqual([
      0, 10, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
  });

  test("that replace all messages keep known ones", async () => {
    const again = `${LINES}{"$set":{"messages":[{"id":"u1","type":"user","content":"x"},{"id":"n1","type":"user","content":"New."}]}}\n`;
    const { entries, leaf } = await read(again, `${CHATS}/session-b.jsonl`);
    expect(outline(entries).at(-1)).toBe("n1<u1 user: New.");
    expect(leaf).toBe("n1");
  });

  test("of a sub-agent name the chat that started it", async () => {
    const lines = LINES.replace('"kind":"main"', '"kind":"subagent","directories":["/srv/shop"]');
    const { session } = await read(lines, `${CHATS}/parent-id/agent.jsonl`);
    expect(session).toMatchObject({
      id: "parent-id/agent-5e0c1d2f-1111-4a4a-8b8b-000000000002",
      parentSession: "parent-id",
      cwd: "/srv/shop",
    });
  });

  test("get the folder from a companion file", async () => {
    const files = { "../.project_root": "/srv/shop\n" };
    const { session } = await read(LINES, `${CHATS}/session-b.jsonl`, files);
    expect(session?.cwd).toBe("/srv/shop");
  });
});

test("chats are found below the home folder, and resumed by their id", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [place] = GEMINI_CLI.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/.gemini/tmp");
  expect(place?.matches("shop/chats/session-2026-05-05T08-00-5e0c1d2f.jsonl")).toBe(true);
  expect(place?.matches("shop/chats/session-2025.json")).toBe(true);
  expect(place?.matches("shop/logs.json")).toBe(false);
  expect(place?.skips?.("shop/chats")).toBe(false);
  expect(place?.skips?.("shop/checkpoints")).toBe(true);
  expect(GEMINI_CLI.resumeCommand?.({ id: "5e0c", cwd: null })).toBe("gemini --resume 5e0c");
});

test("a chat of one object is read as such, whatever its file name", async () => {
  const chat = {
    sessionId: "s1",
    projectHash: "p",
    startTime: "2026-05-04T10:00:00.000Z",
    messages: [
      { id: "a", type: "user", timestamp: "2026-05-04T10:00:01.000Z", content: "Why?" },
      { id: "b", type: "gemini", timestamp: "2026-05-04T10:00:02.000Z", content: "So." },
    ],
  };
  for (const path of ["/x/chat.jsonl", "/x/session-1.json", "/x/chat.txt", ""]) {
    for (const text of [JSON.stringify(chat, null, 2), `${JSON.stringify(chat)}\n`]) {
      const { source, sessions, problems } = await readWhole(text, { path });
      expect([source, problems]).toEqual(["gemini-cli", []]);
      expect(sessions.map(({ entries }) => entries.map(({ role }) => role))).toEqual([
        ["user", "assistant"],
      ]);
    }
  }
});
