import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createMachine } from "../src/archive/archive.cases.ts";
import { SOURCES } from "../src/ingest/sources.ts";
import { open } from "../src/open.ts";
import { createFolder } from "./support/folder.ts";
import { readWith } from "./support/reading.ts";
import { fixture } from "./support/transcripts.ts";

/** Conversations in one JSON document that is too long to be parsed whole. */

/** Trailing padding that makes a document too long to be parsed whole. */
const PADDING = " ".repeat(1024 * 1024);

const DOCUMENTS = [
  "claw-code/version-1.json",
  "claw-code/tools.json",
  "cline/api_conversation_history.json",
  "cline/roo.json",
  "codex/oldest.json",
  "gemini-cli/session.json",
];

function sourceOf(name: string) {
  const source = SOURCES.find((each) => each.name === name.split("/")[0]);
  if (source === undefined) throw new Error(`no source reads ${name}`);
  return source;
}

async function read(name: string, content: string, isRepeatable: boolean) {
  const path = `/somewhere/${name}`;
  const { sessions, problems } = await readWith(sourceOf(name), content, { path, isRepeatable });
  return {
    sessions: sessions.map(({ session, entries, leaf }) => {
      const { entries: _, leaf: __, problems: ___, ...said } = session;
      return { said, entries, leaf };
    }),
    problems,
  };
}

describe.each(DOCUMENTS)("%s", (name) => {
  test("gives the same entries in chunks as whole", async () => {
    for (const text of [fixture(name), JSON.stringify(JSON.parse(fixture(name)))]) {
      const whole = await read(name, text, false);
      expect(whole.sessions[0]?.entries.length).toBeGreaterThan(0);
      expect(await read(name, `${text}${PADDING}`, true)).toEqual(whole);
      expect(await read(name, text, true)).toEqual(whole);
    }
  });

  test("gives nothing if truncated", async () => {
    const text = `${PADDING}${fixture(name).trimEnd().slice(0, -1)}`;
    const { sessions, problems } = await read(name, text, true);
    expect(sessions.flatMap(({ entries }) => entries)).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(["not_json"]);
  });
});

test("fields after the messages describe the chat", async () => {
  const chat = JSON.parse(fixture("gemini-cli/session.json")) as Record<string, unknown>;
  const { messages, ...rest } = chat;
  const text = JSON.stringify({
    sessionId: chat["sessionId"],
    messages,
    ...rest,
    summary: "Last.",
  });
  const { sessions } = await read("gemini-cli/session.json", `${text}${PADDING}`, true);
  expect(sessions[0]?.said.title).toBe("Last.");
});

test.each([
  ["claw-code/version-1.json", ["message-0", "message-2"]],
  ["cline/api_conversation_history.json", ["message-0", "message-2"]],
])("a damaged message of %s affects neither other messages nor their ids", async (name, ids) => {
  const said = { role: "user", blocks: [{ type: "text", text: "a" }], content: "a" };
  const [first, last] = [JSON.stringify(said), JSON.stringify({ ...said, content: "b" })];
  const text = `{"version":1,"messages":[${first},{"role":oops},${last}]}${PADDING}`;
  const { sessions, problems } = await read(name, text, true);
  const found = sessions[0]?.entries.map(({ sourceId }) => sourceId.replace(/-[0-9a-f]{8}$/, ""));
  expect([found, problems.map(({ code }) => code)]).toEqual([ids, ["not_json"]]);
});

test("a long first line does not turn JSON Lines into a document", async () => {
  const line = (text: string) =>
    JSON.stringify({
      type: "message",
      message: { role: "user", blocks: [{ type: "text", text }] },
    });
  const text = `${line("x".repeat(PADDING.length))}\n${line("b")}\n`;
  const { sessions } = await read("claw-code/long.jsonl", text, true);
  expect(sessions[0]?.entries).toHaveLength(2);
});

describe("a file that is ingested", () => {
  const messages = Array.from({ length: 300 }, (_, i) => ({
    id: `m${i}`,
    type: "user",
    timestamp: "2025-11-05T08:00:00.000Z",
    content: `message ${i} ${"ä ".repeat(4000)}`,
  }));
  const chat = { sessionId: "c1", startTime: "2025-11-05T08:00:00.000Z", messages, summary: "S" };

  async function ingested(content: Uint8Array) {
    await using engine = await open(":memory:");
    const path = join(createFolder(), "session-1.json");
    writeFileSync(path, content);
    const outcomes: unknown[] = [];
    const { totals } = await createMachine().run(engine, {
      paths: [path],
      sources: SOURCES,
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    return { totals, outcomes };
  }

  test.each([
    ["plain", Buffer.from(JSON.stringify(chat))],
    ["over many lines", Buffer.from(JSON.stringify(chat, null, 2))],
    ["packed", gzipSync(JSON.stringify(chat))],
    ["in UTF-16", Buffer.from(`\uFEFF${JSON.stringify(chat)}`, "utf16le")],
  ])("%s gives every message", async (_how, content) => {
    const { totals, outcomes } = await ingested(content);
    expect(totals).toMatchObject({ created: 1, entries: 300 });
    expect(outcomes).toMatchObject([{ problems: [] }]);
  });

  test("compressed and truncated gives nothing, and reports it once", async () => {
    const packed = gzipSync(JSON.stringify(chat), { level: 0 });
    const { totals, outcomes } = await ingested(packed.subarray(0, packed.length - 100_000));
    expect(totals).toMatchObject({ created: 0, entries: 0 });
    expect(outcomes).toMatchObject([{ problems: [{ code: "unreadable" }, { code: "not_json" }] }]);
  });
});
