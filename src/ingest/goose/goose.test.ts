import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { readWhole } from "../../../test/support/transcripts.ts";
import { GOOSE } from "./goose.ts";

const TIME = Date.UTC(2026, 4, 4, 10) / 1000;
const SUCCESS = { status: "success" };
const MESSAGES = [
  { role: "user", created: TIME, content: [{ type: "text", text: "Why twice?" }] },
  {
    role: "assistant",
    created: TIME + 1,
    content: [
      { type: "thinking", thinking: "locks", signature: "s" },
      { type: "text", text: "I look." },
      {
        type: "toolRequest",
        id: "c1",
        toolCall: { ...SUCCESS, value: { name: "shell", arguments: { command: "ls" } } },
      },
    ],
  },
  {
    role: "user",
    created: TIME + 2,
    content: [
      {
        type: "toolResponse",
        id: "c1",
        toolResult: { ...SUCCESS, value: [{ type: "text", text: "cron.lock" }] },
      },
    ],
  },
  {
    role: "user",
    created: TIME + 3,
    content: [
      { type: "toolResponse", id: "c2", toolResult: { status: "error", error: "no such tool" } },
    ],
  },
  { role: "assistant", created: TIME + 4, content: [{ type: "later", x: 1 }] },
];

const EXPECTED = [
  "user: Why twice?",
  "assistant: [thinking] [shell] I look.",
  "tool: [result]",
  "tool: [failed]",
  "assistant: [opaque]",
];

function said(entries: Parameters<typeof outline>[0]): string[] {
  return outline(entries).map((line) => line.replace(/^\S+ /, ""));
}

describe("Goose", () => {
  test("its database is read, and again only for new rows", async () => {
    const path = join(createFolder(), "sessions.db");
    const database = new DatabaseSync(path);
    database.exec(`
      CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '',
        description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, total_tokens INTEGER);
      CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
        role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
        timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
      INSERT INTO sessions VALUES ('20260504_1', 'Cron', '', '/srv/shop', '2026-05-04 10:00:00', 9);
      INSERT INTO sessions VALUES ('20260504_2', '', 'Other', '/srv/shop', '2026-05-04 10:00:00', 9);`);
    const insert = database.prepare(
      "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)",
    );
    for (const { role, content, created } of MESSAGES) {
      insert.run("20260504_1", role, JSON.stringify(content), created);
    }
    const first = await readWith(GOOSE, "", { path });
    expect(first.problems).toEqual([]);
    // A session without messages is skipped.
    expect(first.sessions).toHaveLength(1);
    expect(first.sessions[0]?.session).toMatchObject({
      source: "goose",
      id: "20260504_1",
      title: "Cron",
      cwd: "/srv/shop",
      startedAt: TIME * 1000,
      metadata: { source: { fields: { total_tokens: 9 } } },
    });
    expect(said(first.sessions[0]?.entries ?? [])).toEqual(EXPECTED);
    const resume = first.state ?? {};
    const again = await readWith(GOOSE, "", { path, resume });
    expect(again.sessions).toEqual([]);
    // The conversation is rewritten under other row numbers.
    database.exec("DELETE FROM messages");
    for (const { role, content, created } of MESSAGES) {
      insert.run("20260504_1", role, JSON.stringify(content), created);
    }
    database.close();
    const anew = await readWith(GOOSE, "", { path, resume });
    const ids = (read: typeof first) => read.sessions[0]?.entries.map(({ sourceId }) => sourceId);
    expect(ids(anew)).toEqual(ids(first));
  });

  test("its older files are read", async () => {
    const header = { working_dir: "/srv/shop", description: "Cron", message_count: 5 };
    const text = [header, ...MESSAGES, { role: "odd" }].map((each) => JSON.stringify(each));
    const { source, sessions, problems } = await readWhole(text.join("\n"), {
      path: "/home/ana/.local/share/goose/sessions/20250504_100000.jsonl",
    });
    expect(source).toBe("goose-files");
    expect(sessions[0]?.session).toMatchObject({ id: "20250504_100000", title: "Cron" });
    expect(said(sessions[0]?.entries ?? []).slice(0, 5)).toEqual(EXPECTED);
    expect(problems).toMatchObject([{ line: 7, code: "unexpected" }]);
  });
});
