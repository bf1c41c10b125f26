import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { HERMES } from "./hermes.ts";

const TIME = Date.UTC(2026, 4, 4, 10) / 1000;

function makeDatabase(): { readonly path: string; readonly database: DatabaseSync } {
  const path = join(createFolder(), "state.db");
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT,
      system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, cwd TEXT,
      git_branch TEXT, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
      role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
      timestamp REAL NOT NULL, reasoning TEXT, _compressed_summary INTEGER NOT NULL DEFAULT 0,
      active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
    INSERT INTO sessions VALUES
      ('s1', 'cli', 'm-1', 'You are …', 's0', ${TIME}.5, '/srv/shop', 'main', 'Cron');`);
  return { path, database };
}

function add(database: DatabaseSync, row: Record<string, string | number>): void {
  const all: Record<string, string | number> = { session_id: "s1", timestamp: TIME + 1, ...row };
  const names = Object.keys(all);
  database
    .prepare(`INSERT INTO messages (${names}) VALUES (${names.map(() => "?")})`)
    .run(...Object.values(all));
}

test("a session of Hermes is a conversation with thoughts, calls and results", async () => {
  const { path, database } = makeDatabase();
  const call = { id: "c1", type: "function", function: { name: "terminal", arguments: '{"a":1}' } };
  add(database, { role: "user", content: "Why twice?" });
  add(database, { role: "user", content: "A prompt that was taken back", active: 0 });
  add(database, { role: "assistant", content: "Its answer", active: 0 });
  const calls = JSON.stringify([call]);
  add(database, { role: "assistant", content: "I look.", reasoning: "locks", tool_calls: calls });
  add(database, { role: "tool", content: "cron.lock", tool_call_id: "c1", tool_name: "terminal" });
  add(database, { role: "user", content: "They found a lock.", _compressed_summary: 1 });
  add(database, { role: "oracle", content: "?" });
  const parts = [
    { type: "text", text: "See" },
    { type: "image_url", image_url: { url: "x" } },
  ];
  add(database, { role: "user", content: `\u0000json:${JSON.stringify(parts)}` });
  const first = await readWith(HERMES, "", { path });
  expect(first.sessions[0]?.session).toMatchObject({
    source: "hermes",
    id: "s1",
    title: "Cron",
    cwd: "/srv/shop",
    gitBranch: "main",
    parentSession: "s0",
    startedAt: TIME * 1000 + 500,
    metadata: { source: { fields: { source: "cli", model: "m-1" } } },
  });
  expect(JSON.stringify(first.sessions[0]?.session.metadata)).not.toContain("You are");
  expect(outline(first.sessions[0]?.entries ?? [])).toEqual([
    "1<null user: Why twice?",
    "2<1 user: A prompt that was taken back",
    "3<2 assistant: Its answer",
    "4<1 assistant: [thinking] [terminal] I look.",
    "5<4 tool: [result]",
    "6<5 compaction: They found a lock.",
    "7<6 custom: ?",
    "8<6 user: [opaque] See",
  ]);
  expect(first.sessions[0]?.leaf).toBe("8");
  expect(first.problems).toMatchObject([{ code: "unexpected" }]);
  // Only new rows are read again, with their whole session.
  const resume = first.state ?? {};
  expect((await readWith(HERMES, "", { path, resume })).sessions).toEqual([]);
  add(database, { role: "user", content: "And now?" });
  const { sessions } = await readWith(HERMES, "", { path, resume });
  expect(sessions[0]?.entries.at(-1)).toMatchObject({ sourceId: "9", parentSourceId: "8" });
  database.close();
});
