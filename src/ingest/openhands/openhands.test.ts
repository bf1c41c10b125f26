import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import { OPENHANDS } from "./openhands.ts";

const EVENTS = fixture("openhands/events.jsonl");
const PATH = "/home/ana/.openhands/conversations/11111111222233334444555555555555/base_state.json";
const ID = "11111111-2222-3333-4444-555555555555";

const usage = (response_id: string, prompt_tokens: number) => ({
  model: "m-2",
  prompt_tokens,
  completion_tokens: 5,
  response_id,
  cache_read_tokens: 30,
  cache_write_tokens: 10,
});
const STATE = JSON.stringify(
  {
    id: ID,
    agent: { llm: { model: "m-1", api_key: "**********" } },
    workspace: { working_dir: "/srv/shop" },
    execution_status: "idle",
    stats: { usage_to_metrics: { default: { token_usages: [usage("resp-1", 100)] } } },
  },
  null,
  2,
);

const OUTLINE = [
  "e1 user: [image] Why does the cron job run twice?",
  "e2 assistant: [thinking] [terminal] I look.",
  "e3 assistant: [terminal]",
  "e4 tool: [result]",
  "e5 tool: [failed]",
  "e7 compaction: They found a lock.",
  "e8 user: Go on.",
  "e9 assistant: [thinking] The lock is gone.",
  "e10 custom:",
];

test("a conversation of OpenHands is its state and its events, in order", async () => {
  const lines = EVENTS.trimEnd().split("\n");
  const named = lines.map((line, i) => {
    const number = String(99_995 + i).padStart(5, "0");
    return [`events/event-${number}-00000000-0000-4000-8000-00000000000${i % 10}.json`, line];
  });
  const files = { ...Object.fromEntries(named.reverse()), "events/.eventlog.lock": "" };
  const { sessions, problems, ignored } = await readWith(OPENHANDS, STATE, { path: PATH, files });
  expect(sessions[0]?.session).toMatchObject({
    source: "openhands",
    id: ID,
    cwd: "/srv/shop",
    startedAt: Date.parse("2026-05-04T10:00:00.000"),
    metadata: { source: { fields: { model: "m-1", execution_status: "idle" } } },
  });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual(OUTLINE);
  const taken = { inputTokens: 60, outputTokens: 5, cacheReadTokens: 30, cacheCreationTokens: 10 };
  expect(entries[1]).toMatchObject({ answer: "resp-1", usage: taken, model: "m-2" });
  expect(entries[1]?.blocks[2]).toMatchObject({
    input: '{"command": "ls", "max": 12345678901234567890}',
  });
  expect(entries[3]?.blocks).toMatchObject([{ output: "cron.lock", toolName: "terminal" }]);
  expect(entries[4]?.blocks).toMatchObject([{ output: "no such tool", isError: true }]);
  expect(entries[6]?.metadata).toMatchObject({ injected: true });
  expect(entries[7]).toMatchObject({ answer: "resp-3", usage: null, model: "m-1" });
  expect(problems).toMatchObject([{ code: "unexpected" }]);
  expect([...ignored.keys()]).toEqual(["SystemPromptEvent", "ConversationStateUpdateEvent"]);
});

test("events as JSON lines are the same conversation", async () => {
  const { source, sessions } = await readWhole(EVENTS, { path: "/exports/run-1.jsonl" });
  expect(source).toBe("openhands");
  expect(sessions[0]?.session.id).toBe("run-1");
  expect(outline(sessions[0]?.entries ?? [])).toEqual(OUTLINE);
});

test("a sub-agent names its enclosing conversation", async () => {
  const path = PATH.replace("base_state.json", "subagents/ab/base_state.json");
  const files = { "events/event-00000-aa.json": EVENTS.split("\n")[1] ?? "" };
  const { sessions } = await readWith(OPENHANDS, "{}", { path, files });
  expect(sessions[0]?.session).toMatchObject({ id: "ab", parentSession: ID });
});

test("an event belongs to the state of its conversation", async () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [place] = OPENHANDS.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/.openhands/conversations");
  expect(place?.matches("1/base_state.json")).toBe(true);
  const files = undefined as never;
  expect(await place?.parts?.ownerOf("1/events/event-00001-ab.json", files)).toBe(
    "1/base_state.json",
  );
  expect(OPENHANDS.companions?.(PATH)).toMatchObject([{ folder: "events" }]);
});

const OLD = [
  "event-1 user: Why does the cron job run twice?",
  "event-3 assistant: [execute_bash] I look.",
  "event-4 tool: [failed]",
  "event-5 assistant: [read]",
  "event-6 tool: [result]",
  "event-7 compaction: They found a lock.",
  "event-8 assistant: The lock is gone.",
  "event-9 custom:",
];

test("a conversation of the older versions is its events", async () => {
  const lines = fixture("openhands/legacy.jsonl").trimEnd().split("\n");
  const files = {
    ...Object.fromEntries(lines.map((line, i) => [`${i}.json`, line])),
    "../metadata.json": '{"title":"Cron runs twice"}',
  };
  const path = "/home/ana/.openhands/sessions/s1/events/0.json";
  const read = await readWith(OPENHANDS, lines[0] ?? "", { path, files });
  expect(read.sessions[0]?.session).toMatchObject({ id: "s1", title: "Cron runs twice" });
  const entries = read.sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual(OLD);
  expect(entries[1]).toMatchObject({
    answer: "chat-1",
    model: "m-1",
    usage: { inputTokens: 10, outputTokens: 10, cacheReadTokens: 60, cacheCreationTokens: 30 },
    blocks: [{}, { id: "k1", input: '{"command": "ls", "max": 12345678901234567890}' }],
  });
  expect(entries[3]?.blocks).toMatchObject([
    { id: "call-5", input: '{"path":"/srv/shop/crontab"}' },
  ]);
  expect(entries[4]?.blocks).toMatchObject([{ toolUseId: "call-5", output: "* * * * *" }]);
  expect(read.problems).toMatchObject([{ code: "unexpected" }]);
  expect([...read.ignored.keys()]).toEqual(["system", "agent_state_changed"]);
  const { source, sessions } = await readWhole(fixture("openhands/legacy.jsonl"));
  expect(source).toBe("openhands");
  expect(outline(sessions[0]?.entries ?? [])).toEqual(OLD);
});

test("the file of one event is not a conversation", () => {
  const [line = ""] = EVENTS.split("\n");
  const recognised = (path: string) => OPENHANDS.recognise(Buffer.from(line), path);
  expect(recognised("/tmp/c1.jsonl")).toBe(true);
  expect(recognised("/tmp/c1/events/event-00001-e1.json")).toBe(false);
  expect(recognised("/tmp/c1/events/12.json")).toBe(false);
});

test("new instructions and interruptions are left out and counted", async () => {
  const events = ["SystemPromptUpdateEvent", "InterruptEvent"].map((kind, i) =>
    JSON.stringify({ id: `x${i}`, timestamp: "2026-05-04T10:00:00", source: "agent", kind }),
  );
  const [, said = ""] = EVENTS.split("\n");
  const text = [said, ...events, ""].join("\n");
  const { sessions, problems, ignored } = await readWith(OPENHANDS, text, {
    path: "/tmp/c1.jsonl",
  });
  expect(sessions[0]?.entries).toHaveLength(1);
  expect(problems).toEqual([]);
  expect(Object.fromEntries(ignored)).toEqual({ SystemPromptUpdateEvent: 1, InterruptEvent: 1 });
});
