import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const ID = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const sources = { sources: SOURCES };

/** What each session says, one after the other. */
async function allSaid(tenant: TenantEngine): Promise<string[][]> {
  const { sessions } = await tenant.listSessions();
  const said = sessions.map(async ({ id }) => {
    const { messages } = await tenant.listMessages(id, { limit: 100 });
    return messages.map(({ blocks }) => textOf(blocks).slice(0, 8));
  });
  return Promise.all(said);
}

const asLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

test("a line that was left out as too long keeps its number", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const say = (role: string, text: string) => ({
    ...{ role, message: { content: [{ type: "text", text }] } },
  });
  machine.put(
    `.cursor/projects/p/agent-transcripts/${ID}/${ID}.jsonl`,
    asLines(say("user", "one"), say("user", "word ".repeat(300_000)), say("assistant", "three")),
  );
  await machine.run(engine, { ...sources, oversize: "skip" });
  expect(await allSaid(engine)).toEqual([["one", "three"]]);
  const { totals } = await machine.run(engine, { ...sources, force: true });
  // Only the line that was left out is new.
  expect(totals.entries).toBe(1);
  expect((await allSaid(engine))[0]?.toSorted()).toEqual(["one", "three", "word wor"]);
});

test.each([
  ["an Aider history", ".aider.chat.history.md", '{ "port": 80, // default'],
  ["a text of Cursor", "a.txt", '{ "port": 80,'],
])("the last line of %s is text, whatever it looks like", async (_, name, last) => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const head = name.endsWith(".md")
    ? "# aider chat started at 2026-05-04 10:00:00\n\n#### config?\n\nHere:\n"
    : "user:\n<user_query>config?</user_query>\nassistant:\nHere:\n";
  const file = machine.put(name, `${head}${last}`);
  await machine.run(engine, { ...sources, paths: [file] });
  const { hits } = await engine.searchSessions("port");
  expect(hits).toHaveLength(1);
});

test("an export that ends in a line with its last conversation loses none", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const chat = (id: string) =>
    JSON.stringify({
      ...{ uuid: id, name: id, created_at: "2026-05-04T10:00:00Z", account: {} },
      chat_messages: [{ uuid: `m${id}`, sender: "human", text: id, content: [] }],
    });
  const file = machine.put("conversations.json", `[${chat("one")},\n${chat("two")}]`);
  const { totals } = await machine.run(engine, { ...sources, paths: [file] });
  expect([totals.created, totals.problems.size]).toEqual([2, 0]);
});

test("a chat of Gemini CLI in one object of several lines is read to its end", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const say = (id: string, content: string) => JSON.stringify({ id, type: "user", content });
  const head = `{"sessionId":"${ID}","projectHash":"h","startTime":"2026-05-04T10:00:00Z"`;
  const text = `${head},"messages":[\n${say("a", "one")},\n${say("b", "two")}]}`;
  const file = machine.put("session-a.json", text);
  await machine.run(engine, { ...sources, paths: [file] });
  expect(await allSaid(engine)).toEqual([["one", "two"]]);
});
