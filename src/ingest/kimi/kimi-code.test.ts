import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { KIMI_CODE } from "./kimi-code.ts";

const FILE = fixture("kimi-code/wire.jsonl");
const SESSION = "0c9d6f0e-6a51-4f0c-9e6b-2b1a7a1f0001";
const PATH = `/home/ana/.kimi-code/sessions/wd_cron_0f9d/session_${SESSION}/agents/main/wire.jsonl`;
const files = { "../../state.json": '{"version":2,"cwd":"/home/ana/cron","title":"Crons"}' };
const START = 1_770_000_000_000;

const contents = (entries: Parameters<typeof outline>[0]) =>
  outline(entries).map((line) => line.replace(/^\S+ /, ""));
const line = (record: object) => `${JSON.stringify({ ...record, time: START + 500 })}\n`;
const event = (fields: object) => line({ type: "context.append_loop_event", event: fields });

test("a session of Kimi Code has its messages, calls, results, usage and folder", async () => {
  const { sessions, problems, ignored } = await readWith(KIMI_CODE, FILE, { path: PATH, files });
  const { session, entries = [], leaf } = sessions[0] ?? {};
  expect(session).toMatchObject({
    source: "kimi-code",
    id: SESSION,
    cwd: "/home/ana/cron",
    title: "Crons",
    startedAt: START,
    parentSession: null,
  });
  expect(contents(entries)).toEqual([
    "user: Why does the cron job run twice?",
    "user: <system-reminder>\nToday is a Monday.\n</system-reminder>",
    "assistant: [thinking] [Bash] [Read] I look.",
    "tool: [failed]",
    "tool: [result]",
    "assistant: The lock is stale.",
  ]);
  expect(entries.map(({ createdAt }) => (createdAt ?? 0) - START)).toEqual([
    31, 40, 80, 90, 95, 111,
  ]);
  expect(entries[1]?.metadata).toMatchObject({ injected: true });
  const usage = { inputTokens: 101, outputTokens: 7, cacheCreationTokens: 0, cacheReadTokens: 20 };
  expect(entries[2]).toMatchObject({ model: "kimi-k2", usage });
  expect(entries[5]?.usage).toEqual({ ...usage, inputTokens: 103 });
  expect(entries[2]?.blocks[2]).toMatchObject({
    id: "call_1",
    input: '{"command":"ls /var/lock"}',
  });
  expect(entries[4]).toMatchObject({ actor: "Bash", blocks: [{ output: "cron.lock\n" }] });
  expect(leaf).toBe(entries[5]?.sourceId);
  expect(KIMI_CODE.resumeCommand?.({ id: SESSION, cwd: null })).toBe(
    `kimi --session session_${SESSION}`,
  );
  expect(problems).toEqual([]);
  expect(ignored.get("llm.tools_snapshot")).toBe(1);
  expect(ignored.get("agent.message.appended")).toBe(2);
});

test("a sub-agent's file is a session below the agent's", async () => {
  const path = PATH.replace("/main/", "/agent-0/");
  const { sessions } = await readWith(KIMI_CODE, FILE, { path, files });
  expect(sessions[0]?.session).toMatchObject({ id: `${SESSION}/agent-0`, parentSession: SESSION });
});

test("unknown records are counted, located and kept", async () => {
  const odd =
    line({ type: "weather.report", sky: "grey" }) +
    event({ type: "step.sung", uuid: "u" }) +
    line({ type: "context.append_message", message: { role: "bard", content: "la" } });
  const { sessions, problems } = await readWith(KIMI_CODE, FILE + odd, { path: PATH });
  const count = FILE.trimEnd().split("\n").length;
  expect(problems.map(({ line: at, code }) => [at, code])).toEqual([
    [count + 1, "unexpected"],
    [count + 2, "unexpected"],
    [count + 3, "unexpected"],
  ]);
  expect(sessions[0]?.entries.slice(6).map(({ kind }) => kind)).toEqual(Array(3).fill("custom"));
  expect(sessions[0]?.entries[6]?.data).toMatchObject({ data: { sky: "grey" } });
});

test("a compaction, an undone prompt and a cleared context are in the tree", async () => {
  const said = (id: string) =>
    line({
      type: "context.append_message",
      message: {
        role: "user",
        id,
        content: [{ type: "text", text: id }],
        origin: { kind: "user" },
      },
    });
  const added =
    line({
      type: "context.apply_compaction",
      summary: "So far.",
      compactedCount: 4,
      tokensBefore: 9,
    }) +
    said("one") +
    said("two") +
    line({ type: "context.undo", count: 2 }) +
    said("three") +
    line({ type: "context.clear" }) +
    said("four");
  const { sessions } = await readWith(KIMI_CODE, FILE + added, { path: PATH });
  const { entries = [], leaf } = sessions[0] ?? {};
  const [compaction, ...others] = entries.slice(6);
  expect(compaction).toMatchObject({
    kind: "compaction",
    blocks: [{ text: "So far." }],
    data: { tokensBefore: 9 },
  });
  expect(others.map(({ sourceId, parentSourceId }) => [sourceId, parentSourceId])).toEqual([
    ["one", compaction?.sourceId],
    ["two", "one"],
    ["three", compaction?.sourceId],
    ["four", null],
  ]);
  expect(leaf).toBe("four");
});

test("an answer that is being written waits for its other lines", async () => {
  const lines = FILE.split("\n");
  const upTo = lines.findIndex((each) => each.includes('"I look."')) + 1;
  const part = `${lines.slice(0, upTo).join("\n")}\n`;
  const fresh = { readText: async () => undefined, modifiedAt: async () => Date.now() };
  const read = async (access: object) => {
    const { splitLines } = await import("../lines.ts");
    const transcript = KIMI_CODE.read({
      path: PATH,
      lines: splitLines([Buffer.from(part)], { start: { lines: 0, offset: 0 } }),
      files: access as never,
    });
    const roles = [];
    for await (const session of transcript.sessions) {
      for await (const { role } of session.entries) roles.push(role);
    }
    return [roles, transcript.isPostponed?.()];
  };
  expect(await read(fresh)).toEqual([["user", "user"], true]);
  const old = { ...fresh, modifiedAt: async () => START };
  expect(await read(old)).toEqual([["user", "user", "assistant"], false]);
});
