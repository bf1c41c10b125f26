import { expect, test } from "vitest";
import { importText } from "../../../test/support/transcripts.ts";
import { textOf } from "../../model/block.ts";
import { open } from "../../open.ts";
import { splitLines } from "../lines.ts";
import type { ImportedEntry, ImportedTranscript } from "../source.ts";
import { CLAUDE_CODE } from "./claude-code.ts";

const ID = "5a1b2c3d-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const PATH = `/projects/-srv-shop/${ID}.jsonl`;

let second = 0;

function line(fields: object): string {
  const timestamp = new Date(Date.UTC(2026, 4, 4, 10) + ++second * 1000).toISOString();
  return JSON.stringify({ ...fields, timestamp, sessionId: ID, cwd: "/srv/shop" });
}

function user(uuid: string, parentUuid: string | null, content: unknown, more = {}): string {
  return line({ type: "user", uuid, parentUuid, message: { role: "user", content }, ...more });
}

function results(uuid: string, parentUuid: string, call: string): string {
  return user(uuid, parentUuid, [{ type: "tool_result", tool_use_id: call, content: "done" }]);
}

function answer(uuid: string, parentUuid: string, text: string, call?: string): string {
  const content = [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...(call === undefined ? [] : [{ type: "tool_use", id: call, name: "Bash", input: {} }]),
  ];
  const message = { role: "assistant", id: `msg-${uuid}`, model: "m", content };
  return line({ type: "assistant", uuid, parentUuid, message });
}

function queue(operation: string, content?: string): string {
  return line({ type: "queue-operation", operation, content });
}

function attached(uuid: string, parentUuid: string, prompt: string): string {
  const attachment = { type: "queued_command", prompt, commandMode: "prompt" };
  return line({ type: "attachment", uuid, parentUuid, attachment });
}

/** The messages of the active path, without tools. */
async function path(lines: readonly string[]): Promise<string[]> {
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, `${lines.join("\n")}\n`, { path: PATH });
  const { messages } = await handle.listMessages({ limit: 500 });
  return messages
    .filter(({ role }) => role !== "tool")
    .map(({ role, blocks }) => `${role}: ${textOf(blocks)}`);
}

test("a prompt removed from the queue is a user's message before the answer", async () => {
  const said = await path([
    user("u1", null, "begin"),
    queue("enqueue", "queuedword please"),
    queue("remove"),
    answer("a1", "u1", "done"),
  ]);
  expect(said).toEqual(["user: begin", "user: queuedword please", "assistant: done"]);
});

test("a prompt that goes with tool results follows all of them", async () => {
  const calls = [
    { type: "tool_use", id: "c1", name: "Bash", input: {} },
    { type: "tool_use", id: "c2", name: "Bash", input: {} },
  ];
  const both = (uuid: string, parentUuid: string, call: object) =>
    line({
      type: "assistant",
      uuid,
      parentUuid,
      message: { role: "assistant", id: "m1", model: "m", content: [call] },
    });
  const lines = [
    user("u1", null, "begin"),
    both("a1", "u1", calls[0] ?? {}),
    both("a2", "a1", calls[1] ?? {}),
    results("r1", "a1", "c1"),
    queue("enqueue", "also the docs"),
    queue("remove"),
    results("r2", "a2", "c2"),
    answer("a3", "r2", "both done"),
    user("u2", "a3", "thanks"),
  ];
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, lines.join("\n"), { path: PATH });
  const { messages } = await handle.listMessages({ limit: 500 });
  expect(messages.map(({ role, blocks }) => `${role} ${textOf(blocks)}`.trim())).toEqual([
    "user begin",
    "assistant",
    "assistant",
    "tool",
    "tool",
    "user also the docs",
    "assistant both done",
    "user thanks",
  ]);
});

test("a prompt with its own line appears once", async () => {
  const begin = [
    user("u1", null, "begin"),
    answer("a1", "u1", "", "c1"),
    results("r1", "a1", "c1"),
  ];
  // Dequeued at the end of a turn.
  const dequeued = [
    ...begin,
    queue("enqueue", "and then"),
    answer("a2", "r1", "first"),
    queue("dequeue"),
    user("u2", "a2", "and then"),
    answer("a3", "u2", "second"),
  ];
  expect((await path(dequeued)).slice(2)).toEqual([
    "assistant: first",
    "user: and then",
    "assistant: second",
  ]);
  // Attached, before or after its removal.
  for (const order of [0, 1]) {
    const pair = [queue("remove"), attached("q1", "r1", "and then")];
    const lines = [
      ...begin,
      queue("enqueue", "and then"),
      ...(order === 0 ? pair : pair.toReversed()),
      answer("a2", "q1", "second"),
    ];
    expect((await path(lines)).filter((each) => each.includes("and then"))).toHaveLength(1);
  }
  // Several in one line, without queue lines of their removal.
  const joined = [
    ...begin,
    queue("enqueue", "one"),
    queue("enqueue", "two"),
    answer("a2", "r1", "first"),
    queue("dequeue"),
    queue("dequeue"),
    user("u2", "a2", "one\ntwo"),
    answer("a3", "u2", "ok"),
  ];
  expect((await path(joined)).slice(-3)).toEqual([
    "assistant: first",
    "user: one\ntwo",
    "assistant: ok",
  ]);
});

test("a retracted prompt, or one without a following answer, is not a message", async () => {
  const begin = [user("u1", null, "begin"), answer("a1", "u1", "first")];
  const back = [...begin, queue("enqueue", "never mind"), queue("popAll", "never mind")];
  const edited = [...begin, queue("enqueue", "draft"), queue("remove")];
  for (const lines of [
    [...back, user("u2", "a1", "another"), answer("a2", "u2", "second")],
    [...edited, user("u2", "a1", "another"), answer("a2", "u2", "second")],
    [...edited, user("u2", "a1", "a better draft"), answer("a2", "u2", "second")],
    [...edited],
    [
      ...begin,
      queue("enqueue", "waits"),
      user("u2", "a1", "another"),
      answer("a2", "u2", "second"),
    ],
  ]) {
    const said = await path(lines);
    expect(said.join()).not.toMatch(/never mind|user: draft|waits/);
  }
});

test("a queued line of Claude Code itself is not a user request", async () => {
  await using engine = await open(":memory:");
  const notice = "<task-notification>\n<task-id>a</task-id>\n</task-notification>";
  const lines = [
    user("u1", null, "begin"),
    answer("a1", "u1", "", "c1"),
    queue("enqueue", notice),
    queue("remove"),
    results("r1", "a1", "c1"),
    answer("a2", "r1", "seen"),
  ];
  const { handle } = await importText(engine, lines.join("\n"), { path: PATH });
  const { messages } = await handle.listMessages({});
  expect(messages[3]).toMatchObject({ role: "user", metadata: { injected: true } });
});

test("a prompt is delivered wherever the reading is split", async () => {
  const lines = [
    user("u1", null, "begin"),
    answer("a1", "u1", "", "c1"),
    queue("enqueue", "queued one"),
    queue("remove"),
    results("r1", "a1", "c1"),
    answer("a2", "r1", "seen"),
    user("u2", "a2", "next"),
    answer("a3", "u2", "last"),
  ].map((each) => `${each}\n`);
  const whole = await entriesOf(CLAUDE_CODE.read(inputOf(lines)));
  expect(whole.map(({ sourceId }) => sourceId)).toContainEqual(expect.stringMatching(/^queued-/));
  for (let end = 1; end < lines.length; end++) {
    const first = CLAUDE_CODE.read(inputOf(lines.slice(0, end)));
    const begun = await entriesOf(first);
    const resume = JSON.parse(JSON.stringify(first.state?.()));
    const rest = CLAUDE_CODE.read({ ...inputOf(lines.slice(end), end), resume });
    const messages = (all: readonly ImportedEntry[]) =>
      all
        .filter(({ kind }) => kind === "message")
        .map((each) => [each.sourceId, each.parentSourceId]);
    expect(messages([...begun, ...(await entriesOf(rest))]), String(end)).toEqual(messages(whole));
  }
});

function inputOf(lines: readonly string[], start = 0) {
  const bytes = [Buffer.from(lines.join(""))];
  return { path: PATH, lines: splitLines(bytes, { start: { lines: start, offset: 0 } }) };
}

async function entriesOf({ sessions }: ImportedTranscript): Promise<ImportedEntry[]> {
  const all: ImportedEntry[] = [];
  for await (const session of sessions) for await (const each of session.entries) all.push(each);
  return all;
}
