import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import { CONTINUE } from "./continue.ts";

const FILE = fixture("continue/session.json");
const ID = "c8c95ff4-0000-4000-8000-000000000002";
const PATH = `/home/ana/.continue/sessions/${ID}.json`;

test("a session of Continue is a conversation, with the time of the list", async () => {
  const list = [{ sessionId: ID, dateCreated: "1777888800000" }];
  const files = { "sessions.json": JSON.stringify(list) };
  const { sessions, problems } = await readWith(CONTINUE, FILE, { path: PATH, files });
  expect(sessions[0]?.session).toMatchObject({
    source: "continue",
    id: ID,
    title: "Cron runs twice",
    cwd: "/srv/my shop",
    startedAt: 1_777_888_800_000,
  });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries).map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "user: [image] Why does the cron job run twice?",
    "assistant: [thinking] [List] I look.",
    "tool: [result]",
    "assistant: The lock is gone.",
    "compaction: They found a lock.",
  ]);
  expect(entries[1]).toMatchObject({
    model: "m-1",
    cost: 0.02,
    createdAt: 1_777_888_801_000,
    usage: { inputTokens: 60, outputTokens: 10, cacheReadTokens: 40, cacheCreationTokens: 0 },
  });
  expect(entries[2]?.blocks).toEqual([
    { type: "tool_result", toolUseId: "k1", toolName: "List", output: "cron.lock", isError: false },
  ]);
  expect(entries[3]).toMatchObject({ model: "m-2", usage: { inputTokens: 120 } });
  expect(problems).toMatchObject([
    { code: "unexpected", message: expect.stringContaining("item 5") },
  ]);
});

test("a message that was edited is a branch", async () => {
  const edited = FILE.replace("The lock is gone.", "The lock is stale.");
  const first = (await readWhole(FILE, { path: "/a" })).sessions[0]?.entries ?? [];
  const { source, sessions } = await readWhole(edited, { path: "/a" });
  const second = sessions[0]?.entries ?? [];
  expect(source).toBe("continue");
  expect(second.slice(0, 3)).toEqual(first.slice(0, 3));
  expect(second[3]?.sourceId).not.toBe(first[3]?.sourceId);
  expect(second[3]?.parentSourceId).toBe(first[2]?.sourceId);
});
