import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import type { JsonObject } from "../../model/json.ts";
import { ProblemLog } from "../problems.ts";
import { withDatabase } from "../sqlite-file.ts";
import { OPENCLAW_DATABASE, SessionMarks } from "./openclaw-database.ts";

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
  // Their numbers determine the order, not their rows.
  for (const [seq, event] of [...events.entries()].reverse()) insert.run(id, seq, event, time);
}

function addSession(database: DatabaseSync, id: string, time: number) {
  const [header = "", ...rest] = EVENTS;
  addEvents(database, id, [header.replace('"a1"', `"${id}"`), ...rest], time);
}

function change(path: string, how: (database: DatabaseSync) => void) {
  const database = new DatabaseSync(path);
  how(database);
  database.close();
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
  test("has sessions of pi's records, in order", async () => {
    const { sessions, problems } = await readWith(OPENCLAW_DATABASE, "", { path: makeDatabase() });
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.session).toMatchObject({
      source: "openclaw",
      agent: "openclaw",
      id: "a1",
      cwd: "/srv/claw",
      title: null,
    });
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      "00000001<null user: Remind me at six.",
      "00000002<00000001 assistant: I will.",
    ]);
    expect(problems).toEqual([]);
  });

  test("names a session's peer and its cause", async () => {
    const path = makeDatabase(describeSessions);
    const { sessions } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect(sessions[0]?.session).toMatchObject({
      title: "Family",
      parentSession: "a0",
      metadata: {
        gateway: {
          key: "agent:main:telegram:group:9",
          channel: "telegram",
          chatType: "group",
          space: "home",
        },
      },
    });
  });

  test("is read again only where something has changed", async () => {
    const path = makeDatabase((database) => addSession(database, "a2", 500));
    const first = await readWith(OPENCLAW_DATABASE, "", { path });
    const ids = async (resume: JsonObject | undefined) => {
      const later = await readWith(OPENCLAW_DATABASE, "", { path, ...(resume ? { resume } : {}) });
      return { read: later.sessions.map(({ session }) => session.id), state: later.state };
    };
    expect(await ids(first.state)).toEqual({ read: [], state: first.state });
    change(path, (database) => {
      database.prepare("INSERT INTO transcript_events VALUES ('a2', 9, '{}', 500)").run();
    });
    const second = await ids(first.state);
    expect(second.read).toEqual(["a2"]);
    // A record with an old time may be new.
    change(path, (database) => addSession(database, "moved", 3));
    const third = await ids(second.state);
    expect(third.read).toEqual(["moved"]);
    // An older database is read where it differs, and an invalid state counts as none.
    expect((await ids({ since: 2000 })).read).toEqual(["moved", "a2", "a1"]);
    change(path, (database) => database.exec("DELETE FROM transcript_events WHERE seq = 9"));
    expect((await ids(third.state)).read).toEqual(["a2"]);
  });

  test("has a small state, however many sessions it has", async () => {
    const path = makeDatabase((database) => {
      database.exec("BEGIN");
      for (let i = 0; i < 20_000; i++) addEvents(database, `s${i}`, ["{}"], i);
      database.exec("COMMIT");
    });
    const problems = new ProblemLog();
    const known = withDatabase(path, problems, async function* (database) {
      const marks = new SessionMarks(database);
      const state = marks.state();
      yield { size: JSON.stringify(state).length, changed: [...marks.changedSince(state)] };
    });
    for await (const { size, changed } of known) {
      expect(size).toBeLessThan(80_000);
      expect(changed).toEqual([]);
    }
  });

  test("an invalid record is counted, and the rest is read", async () => {
    const path = makeDatabase((database) => addEvents(database, "b", ["{broken"], 500));
    const { sessions, problems } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect(sessions.map(({ session }) => session.id)).toContain("a1");
    expect(problems.map(({ code }) => code)).toEqual(["not_json"]);
  });

  test("of another program, or without its tables, has no sessions", async () => {
    const path = join(createFolder(), "openclaw-agent.sqlite");
    new DatabaseSync(path).close();
    const { sessions, state } = await readWith(OPENCLAW_DATABASE, "", { path });
    expect([sessions, state]).toEqual([[], { sessions: {} }]);
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
