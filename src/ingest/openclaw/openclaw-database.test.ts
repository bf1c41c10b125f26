import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { OPENCLAW_DATABASE } from "./openclaw-database.ts";

const EVENTS = fixture("openclaw/a1-topic-7.jsonl").trimEnd().split("\n");

/** A database with one session, `a1`, and whatever `more` adds. */
function makeDatabase(more: (database: DatabaseSync) => void = () => undefined): string {
  const path = join(createFolder(), "openclaw-agent.sqlite");
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL,
      entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL, spawned_by TEXT,
      fork_source_session_id TEXT, label TEXT, display_name TEXT) STRICT;
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL,
      previous_session_id TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      channel TEXT, chat_type TEXT, display_name TEXT) STRICT;
    CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL,
      event_json TEXT NOT NULL, created_at INTEGER NOT NULL,
      PRIMARY KEY (session_id, seq)) STRICT;`);
  addEvents(database, "a1", EVENTS, 1000);
  more(database);
  database.close();
  return path;
}

function addEvents(database: DatabaseSync, id: string, events: readonly string[], time: number) {
  const insert = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?)");
  // Their numbers say the order, not their rows.
  for (const [seq, event] of [...events.entries()].reverse()) insert.run(id, seq, event, time);
}

function describeSessions(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO session_windows VALUES
      ('a1', 'agent:main:telegram:group:9', NULL, 1, 2, 'telegram', 'group', 'Family');
    INSERT INTO session_nodes VALUES
      ('agent:main:telegram:group:9', 'a1', '{"space":"home"}', 2, 'agent:main:main', NULL, NULL, NULL),
      ('agent:main:main', 'a0', '{}', 2, NULL, NULL, NULL, NULL);`);
}

describe("openclaw's database", () => {
  test("has sessions of pi's records, in their order", async () => {
    const { sessions, problems } = await readWith(OPENCLAW_DATABASE, "", { path: makeDatabase() });
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.session).toMatchObject({
      ...{ source: "openclaw", agent: "openclaw", id: "a1", cwd: "/srv/claw", title: null },
    });
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      "00000001<null user: Remind me at six.",
      "00000002<00000001 assistant: I will.",
    ]);
    expect(problems).toEqual([]);
  });

  test("says whom a session was with, and what has started it", async () => {
    const path = makeDatabase(describeSessions);
    const { sessions } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect(sessions[0]?.session).toMatchObject({
      ...{ title: "Family", parentSession: "a0" },
      metadata: {
        gateway: {
          ...{ key: "agent:main:telegram:group:9", channel: "telegram", chatType: "group" },
          space: "home",
        },
      },
    });
  });

  test("is read again only where something was written since", async () => {
    const path = makeDatabase();
    const { state } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect(state).toEqual({ since: 1000 });
    const database = new DatabaseSync(path);
    const [header = "", ...rest] = EVENTS;
    addEvents(database, "a2", [header.replace('"a1"', '"a2"'), ...rest], 2000);
    database.close();
    const later = await readWith(OPENCLAW_DATABASE, "", { path, resume: { since: 1500 } });
    expect(later.sessions.map(({ session }) => session.id)).toEqual(["a2"]);
    // One that ends before is another database.
    const other = await readWith(OPENCLAW_DATABASE, "", { path, resume: { since: 9000 } });
    expect(other.sessions).toHaveLength(2);
  });

  test("a record that is none is counted, and the rest is read", async () => {
    const path = makeDatabase((database) => addEvents(database, "b", ["{broken"], 500));
    const { sessions, problems } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect(sessions.map(({ session }) => session.id)).toContain("a1");
    expect(problems.map(({ code }) => code)).toEqual(["not_json"]);
  });

  test("of another program, or without its tables, has no sessions", async () => {
    const path = join(createFolder(), "openclaw-agent.sqlite");
    new DatabaseSync(path).close();
    const { sessions, state } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect([sessions, state]).toEqual([[], { since: 0 }]);
  });

  test("lies with its agent", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const [place] = OPENCLAW_DATABASE.places?.(environment) ?? [];
    expect(place?.root).toBe("/home/ana/.openclaw/agents");
    expect(place?.matches("main/agent/openclaw-agent.sqlite")).toBe(true);
    expect(place?.skips?.("main/sessions")).toBe(true);
    const head = Buffer.from("SQLite format 3\0");
    expect(OPENCLAW_DATABASE.recognise(head, "/x/openclaw-agent.sqlite")).toBe(true);
    expect(OPENCLAW_DATABASE.recognise(head, "/x/other.sqlite")).toBe(false);
    expect(OPENCLAW_DATABASE.recognise(Buffer.from("{}"), "/x/openclaw-agent.sqlite")).toBe(false);
  });
});
