import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { SOURCES } from "../ingest/sources.ts";
import { open } from "../open.ts";
import { createMachine, type Machine } from "./archive.cases.ts";

const sources = { sources: SOURCES };
const PAST = 1_770_000_000_000;

/** opencode's database while the agent runs: with a log beside it. */
function openOpencode(machine: Machine) {
  const database = new DatabaseSync(machine.put(".local/share/opencode/opencode.db", ""));
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, project_id TEXT, directory TEXT,
      title TEXT, time_created INT, time_updated INT);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INT,
      time_updated INT, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INT,
      time_updated INT, data TEXT)`);
  return {
    say(session: string, at: number, data: object = { role: "user" }) {
      database
        .prepare("INSERT OR IGNORE INTO session VALUES (?, NULL, 'p', '/srv', 't', ?, ?)")
        .run(session, at, at);
      const json = JSON.stringify({ ...data, time: { created: at } });
      database
        .prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)")
        .run(`m${at}`, session, at, at, json);
      const text = JSON.stringify({ type: "text", text: `said at ${at}` });
      database
        .prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)")
        .run(`p${at}`, `m${at}`, session, at, at, text);
    },
    finish(at: number) {
      const json = JSON.stringify({ role: "assistant", time: { created: at, completed: at } });
      database.prepare("UPDATE message SET data = ? WHERE id = ?").run(json, `m${at}`);
    },
    [Symbol.dispose]: () => database.close(),
  };
}

test("a changed database is read only for its changed sessions", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  using opencode = openOpencode(machine);
  for (let i = 0; i < 10; i++) opencode.say(`ses_${i}`, PAST + i);
  const first = await machine.run(engine, sources);
  expect(first.outcomes[0]).toMatchObject({ how: "read", sessions: { length: 10 } });
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
  opencode.say("ses_3", PAST + 900_000);
  const second = await machine.run(engine, sources);
  const [outcome] = second.outcomes;
  // The newest one is read again: a row with the same time may have been added.
  expect(outcome?.sessions).toMatchObject([
    { entries: 1, skipped: 1 },
    { entries: 0, skipped: 1 },
  ]);
  expect(outcome?.how).toBe("continued");
  const grown = await engine.getSessionMeta(outcome?.sessions[0]?.sessionId ?? "");
  expect(grown.figures?.exchangeCount).toBe(2);
  // Forced: everything is read.
  const forced = await machine.run(engine, { ...sources, force: true });
  expect(forced.outcomes[0]).toMatchObject({ how: "read", sessions: { length: 10 } });
});

test("an unchanged database with an unfinished answer is read again", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  using opencode = openOpencode(machine);
  const now = Date.now();
  opencode.say("ses_1", now - 10);
  opencode.say("ses_1", now, { role: "assistant" });
  expect((await machine.run(engine, sources)).totals.entries).toBe(1);
  // Unchanged, but the postponed answer is read again.
  expect((await machine.run(engine, sources)).totals.files).toMatchObject({ continued: 1 });
  opencode.finish(now);
  expect((await machine.run(engine, sources)).totals.entries).toBe(1);
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
});

test("a database replaced by an older one is read whole", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  {
    using opencode = openOpencode(machine);
    opencode.say("ses_1", PAST + 900_000);
    await machine.run(engine, sources);
  }
  using older = openOpencode(machine);
  older.say("ses_2", PAST);
  expect((await machine.run(engine, sources)).totals.created).toBe(1);
});

test("a session that its gateway moved from a file into a database stays one", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const lines = [
    { type: "session", version: 3, id: "a1", timestamp: "2026-03-01T12:00:00.000Z", cwd: "/srv" },
    ...["00000001", "00000002"].map((id, i) => ({
      type: "message",
      id,
      parentId: i === 0 ? null : "00000001",
      timestamp: `2026-03-01T12:00:0${i + 1}.000Z`,
      message: { role: "user", content: [{ type: "text", text: `said ${i}` }] },
    })),
  ].map((line) => JSON.stringify(line));
  machine.put(".openclaw/agents/main/sessions/a1.jsonl", `${lines.slice(0, 2).join("\n")}\n`);
  expect((await machine.run(engine, sources)).totals).toMatchObject({ created: 1, entries: 1 });
  const path = machine.put(".openclaw/agents/main/agent/openclaw-agent.sqlite", "");
  using database = new DatabaseSync(path);
  database.exec(`CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT,
    created_at INTEGER, PRIMARY KEY (session_id, seq))`);
  const insert = database.prepare("INSERT INTO transcript_events VALUES ('a1', ?, ?, ?)");
  for (const [seq, line] of lines.entries()) insert.run(seq, line, PAST);
  const { totals } = await machine.run(engine, sources);
  expect(totals).toMatchObject({ created: 0, grown: 1, entries: 1, problems: new Map() });
  expect((await engine.listSessions()).sessions).toMatchObject([{ messageCount: 2 }]);
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(2);
});
