import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const ID = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const sources = { sources: SOURCES };

/** The messages of each session. */
async function allSaid(tenant: TenantEngine): Promise<string[][]> {
  const { sessions } = await tenant.listSessions();
  const said = sessions.map(async ({ id }) => {
    const { messages } = await tenant.listMessages(id, { limit: 100 });
    return messages.map(({ blocks }) => textOf(blocks).slice(0, 30));
  });
  return Promise.all(said);
}

const asLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

test("a line skipped as too long keeps its number", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const say = (role: string, text: string) => ({
    role,
    message: { content: [{ type: "text", text }] },
  });
  machine.put(
    `.cursor/projects/p/agent-transcripts/${ID}/${ID}.jsonl`,
    asLines(say("user", "one"), say("user", "word ".repeat(300_000)), say("assistant", "three")),
  );
  await machine.run(engine, { ...sources, oversize: "skip" });
  expect(await allSaid(engine)).toEqual([["one", "three"]]);
  const { totals } = await machine.run(engine, { ...sources, force: true });
  // Only the skipped line is new.
  expect(totals.entries).toBe(1);
  expect((await allSaid(engine))[0]?.toSorted()).toEqual(["one", "three", "word ".repeat(6)]);
});

test.each([
  ["an Aider history", ".aider.chat.history.md", '{ "port": 80, // default'],
  ["a text of Cursor", "a.txt", '{ "port": 80,'],
])("the last line of %s is kept, although it looks like torn JSON", async (_, name, last) => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const head = name.endsWith(".md")
    ? "# aider chat started at 2026-05-04 10:00:00\n\n#### config?\n\nHere:\n"
    : "user:\n<user_query>config?</user_query>\nassistant:\nHere:\n";
  const file = machine.put(name, `${head}${last}`);
  await machine.run(engine, { ...sources, paths: [file] });
  expect((await allSaid(engine))[0]?.at(-1)).toBe(`Here:\n${last}`.slice(0, 30));
});

test("the last conversation of an export is stored, although its line has no line break", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const chat = (id: string) =>
    JSON.stringify({
      uuid: id,
      name: id,
      created_at: "2026-05-04T10:00:00Z",
      account: {},
      chat_messages: [{ uuid: `m${id}`, sender: "human", text: id, content: [] }],
    });
  const file = machine.put("conversations.json", `[${chat("one")},\n${chat("two")}]`);
  const { totals } = await machine.run(engine, { ...sources, paths: [file] });
  expect([totals.created, totals.problems.size]).toEqual([2, 0]);
});

test("a chat of Gemini CLI in one multi-line object is read to its end", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const say = (id: string, content: string) => JSON.stringify({ id, type: "user", content });
  const head = `{"sessionId":"${ID}","projectHash":"h","startTime":"2026-05-04T10:00:00Z"`;
  const text = `${head},"messages":[\n${say("a", "one")},\n${say("b", "two")}]}`;
  const file = machine.put("session-a.json", text);
  await machine.run(engine, { ...sources, paths: [file] });
  expect(await allSaid(engine)).toEqual([["one", "two"]]);
});

const claudeLine = (uuid: string, parentUuid: string | null, message: object) => ({
  parentUuid,
  isSidechain: false,
  cwd: "/srv/shop",
  sessionId: ID,
  uuid,
  type: "role" in message ? message.role : "user",
  message,
  timestamp: "2026-05-04T10:00:01.000Z",
});
const ask = (uuid: string, parent: string | null, content: string) =>
  claudeLine(uuid, parent, { role: "user", content });
const answer = (uuid: string, parent: string | null, output: number) =>
  claudeLine(uuid, parent, {
    role: "assistant",
    id: "msg_1",
    model: "m",
    content: [{ type: "text", text: uuid }],
    usage: { input_tokens: 100, output_tokens: output },
  });

test("a new entry in the place of one that is gone takes its followers along", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const path = `.claude/projects/p/${ID}.jsonl`;
  const rest = [ask("c", "b", "C"), ask("d", "c", "D")];
  machine.put(path, asLines(ask("a", null, "A"), ask("b", "a", "B"), ...rest));
  await machine.run(engine, sources);
  machine.put(path, asLines(ask("a", null, "A"), ask("x", "a", "X is new"), ...rest));
  expect((await machine.run(engine, sources)).totals.entries).toBe(3);
  expect(await allSaid(engine)).toEqual([["A", "X is new", "C", "D"]]);
  const [session] = (await engine.listSessions()).sessions;
  const branches = await (await engine.getSession(session?.id ?? "")).branches();
  expect(branches.map(({ leaf }) => textOf(leaf.blocks)).toSorted()).toEqual(["D", "D"]);
});

test.each([
  ["from its last line on", false],
  ["whole", true],
])("the usage of an answer that grew is counted once, read %s", async (_, force) => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const path = `.claude/projects/p/${ID}.jsonl`;
  const start = asLines(ask("u", null, "Why?"), answer("a1", "u", 50));
  // The line has no line break yet.
  machine.put(path, start.trimEnd());
  await machine.run(engine, sources);
  const file = machine.put(path, `${start}${asLines(answer("a2", "a1", 80))}`);
  const { outcomes } = await machine.run(engine, { ...sources, force });
  expect(outcomes[0]?.how).toBe(force ? "read" : "continued");
  const sums = async () => (await engine.listSessions()).sessions.map(({ tokens }) => tokens);
  expect(await sums()).toMatchObject([{ inputTokens: 100, outputTokens: 80 }]);
  appendFileSync(file, asLines(answer("a3", "a2", 95)));
  await machine.run(engine, sources);
  await machine.run(engine, { ...sources, force: true });
  expect(await sums()).toMatchObject([{ inputTokens: 100, outputTokens: 95 }]);
  expect(await allSaid(engine)).toEqual([["Why?", "a1", "a2", "a3"]]);
});

test("a changed line without a line break is read", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const path = `.claude/projects/p/${ID}.jsonl`;
  machine.put(path, asLines(ask("a", null, "A")).trimEnd());
  await machine.run(engine, sources);
  machine.put(path, asLines(ask("b", null, "B is another"), ask("c", "b", "C")));
  await machine.run(engine, sources);
  expect(await allSaid(engine)).toEqual([["A", "B is another", "C"]]);
});
