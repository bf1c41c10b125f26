import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { CRUSH } from "./crush.ts";

const TIME = Date.UTC(2026, 4, 4, 10) / 1000;

test("a session of Crush is a conversation, and its open answer is postponed", async () => {
  const project = createFolder();
  mkdirSync(join(project, ".crush"));
  const path = join(project, ".crush", "crush.db");
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
      cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
      parts TEXT NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL, finished_at INTEGER, is_summary_message INTEGER DEFAULT 0);
    INSERT INTO sessions VALUES ('s1', NULL, 'Cron', 0.5, ${TIME}, ${TIME});`);
  let second = 0;
  const add = (id: string, role: string, parts: object[], isSummary = 0) =>
    database
      .prepare("INSERT INTO messages VALUES (?, 's1', ?, ?, 'm-1', ?, ?, NULL, ?)")
      .run(id, role, JSON.stringify(parts), TIME + ++second, TIME + second, isSummary);
  const part = (type: string, data: object) => ({ type, data });
  const finish = part("finish", { reason: "end_turn", time: TIME });
  add("a", "user", [part("text", { text: "Why twice?" })]);
  add("b", "assistant", [
    part("reasoning", { thinking: "locks", signature: "" }),
    part("text", { text: "I look." }),
    part("tool_call", { id: "c1", name: "bash", input: '{"a":1}', finished: true }),
    finish,
  ]);
  const result = { tool_call_id: "c1", name: "bash", content: "no", is_error: true };
  add("c", "tool", [part("tool_result", result)]);
  add("d", "assistant", [part("text", { text: "They found a lock." }), finish], 1);
  add("e", "assistant", [part("text", { text: "Half an ans" })]);
  const first = await readWith(CRUSH, "", { path });
  expect(first.problems).toEqual([]);
  expect(first.sessions[0]?.session).toMatchObject({
    source: "crush",
    id: "s1",
    title: "Cron",
    cwd: project,
    startedAt: TIME * 1000,
  });
  const expected = [
    "a user: Why twice?",
    "b assistant: [thinking] [bash] I look.",
    "c tool: [failed]",
    "d compaction: They found a lock.",
  ];
  expect(outline(first.sessions[0]?.entries ?? [])).toEqual(expected);
  // No resume state while an answer is open.
  expect(first.state).toBeUndefined();
  add("f", "user", [part("text", { text: "Go on" })]);
  const { sessions, state } = await readWith(CRUSH, "", { path });
  expect(outline(sessions[0]?.entries ?? [])).toEqual([
    ...expected,
    "e assistant: Half an ans",
    "f user: Go on",
  ]);
  expect(state).toEqual({ since: TIME + second });
  database.close();
});
