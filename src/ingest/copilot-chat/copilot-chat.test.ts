import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import type { FileAccess } from "../source.ts";
import { COPILOT_CHAT } from "./copilot-chat.ts";

const OBJECT = fixture("copilot-chat/session.json");
const CHANGES = fixture("copilot-chat/session.jsonl");
const TIME = 1_777_888_800_000;

const FIRST = [
  "request_1<null user: Why does the cron job run twice?",
  "response_1/0<request_1 assistant: [thinking] [list_dir] I look.",
  "response_1/0/results<response_1/0 tool: [result]",
  "response_1<response_1/0/results assistant: The lock is gone.",
];

test("a chat is the requested conversation, or else the shown one", async () => {
  const files = { "../workspace.json": '{"folder":"file:///srv/my%20shop"}' };
  const path = "/home/ana/.config/Code/User/workspaceStorage/w/chatSessions/a.json";
  const { sessions, problems, ignored } = await readWith(COPILOT_CHAT, OBJECT, { path, files });
  expect(sessions[0]?.session).toMatchObject({
    source: "copilot-chat",
    id: "9ab00000-0000-4000-8000-000000000003",
    title: "Cron runs twice",
    cwd: "/srv/my shop",
    startedAt: TIME,
  });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual([
    ...FIRST,
    "request_2<response_1 user: Run it.",
    "request_2/answer/0<request_2 assistant: [run_in_terminal] I run it.",
    "request_2/answer/0/results<request_2/answer/0 tool: [failed]",
    "request_2/answer<request_2/answer/0/results assistant: It fails.",
    "request_2/error<request_2/answer custom: Rate limited.",
  ]);
  expect(entries[0]?.metadata).toMatchObject({ source: { fields: { attachments: ["crontab"] } } });
  expect(entries[1]).toMatchObject({ model: "m-1", createdAt: TIME + 2000, usage: null });
  expect(entries[2]?.blocks).toMatchObject([
    { toolUseId: "k1", toolName: "list_dir", output: "cron.lock\n[image/png]" },
  ]);
  expect(entries[3]?.usage).toMatchObject({ inputTokens: 300, outputTokens: 50 });
  expect(entries[5]).toMatchObject({
    model: "gpt-4o",
    blocks: [{}, { input: '{"command":"make"}' }],
  });
  expect(problems).toEqual([]);
  expect(Object.fromEntries(ignored)).toEqual({ undoStop: 1 });
});

test("a sub-agent's work is a branch of its request", async () => {
  const tool = { kind: "toolInvocationSerialized", isComplete: true, subAgentInvocationId: "k1" };
  const data = { kind: "subagent", description: "Look", prompt: "Look.", result: "No lock." };
  const response = [
    { ...tool, toolCallId: "k1", toolId: "runSubagent", toolSpecificData: data },
    { ...tool, toolCallId: "k2", toolId: "copilot_readFile", pastTenseMessage: "Read crontab" },
    { value: "The lock is gone." },
  ];
  const request = { requestId: "r1", timestamp: TIME, message: { text: "Why?" }, response };
  const chat = { sessionId: "s", responderUsername: "x", requests: [{ ...request, result: {} }] };
  const { sessions } = await readWhole(JSON.stringify(chat));
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual([
    "r1<null user: Why?",
    "r1/agent-1<r1 assistant: [copilot_readFile]",
    "r1/agent-1/results<r1/agent-1 tool: [result]",
    "r1/answer/0<r1 assistant: [runSubagent]",
    "r1/answer/0/results<r1/answer/0 tool: [result]",
    "r1/answer<r1/answer/0/results assistant: The lock is gone.",
  ]);
  expect(entries[1]?.metadata).toMatchObject({ sidechain: true });
  expect(entries[3]?.blocks).toMatchObject([{ input: '{"description":"Look","prompt":"Look."}' }]);
  expect(entries[4]?.blocks).toMatchObject([{ output: "No lock." }]);
  expect(sessions[0]?.leaf).toBe("r1/answer");
});

test("changes are replayed, and an invalid one is counted", async () => {
  const { sessions, problems, source } = await readWhole(CHANGES, { path: "" });
  expect(source).toBe("copilot-chat");
  expect(sessions[0]?.session).toMatchObject({
    id: "9ab00000-0000-4000-8000-000000000004",
    title: "Cron runs twice",
    startedAt: TIME,
  });
  // A pipe's content is complete.
  expect(outline(sessions[0]?.entries ?? [])).toEqual([
    ...FIRST,
    "request_2<response_1 user: Run it.",
    "request_2/answer<request_2 assistant: I run",
  ]);
  expect(problems).toMatchObject([{ line: 6, code: "unexpected" }]);
});

test("an incomplete answer is postponed", async () => {
  const read = (modifiedAt: number) => {
    const files = {
      modifiedAt: () => Promise.resolve(modifiedAt),
      readText: () => Promise.resolve(undefined),
    } as unknown as FileAccess;
    return readChanges(files);
  };
  const open = await read(Date.now());
  expect(open.isPostponed).toBe(true);
  expect(open.last).toBe("request_2");
  const left = await read(Date.now() - 11 * 60 * 1000);
  expect(left).toEqual({ isPostponed: false, last: "request_2/answer" });
});

async function readChanges(files: FileAccess) {
  const { splitLines } = await import("../lines.ts");
  const lines = splitLines([Buffer.from(CHANGES)]);
  const transcript = COPILOT_CHAT.read({ path: "/a.jsonl", lines, files });
  let last = "";
  for await (const { entries } of transcript.sessions) {
    for await (const { sourceId } of entries) last = sourceId;
  }
  return { isPostponed: transcript.isPostponed?.(), last };
}

test("chats are found in the folders of workspaces, and of windows without one", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [place] = COPILOT_CHAT.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/.config/Code/User");
  expect(place?.matches("workspaceStorage/1a/chatSessions/b.jsonl")).toBe(true);
  expect(place?.matches("globalStorage/emptyWindowChatSessions/b.json")).toBe(true);
  expect(place?.matches("workspaceStorage/1a/workspace.json")).toBe(false);
  expect(place?.skips?.("workspaceStorage/1a/chatSessions")).toBe(false);
  expect(place?.skips?.("workspaceStorage/1a/ms-python")).toBe(true);
});
