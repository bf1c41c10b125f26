import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readWith } from "../../../test/support/reading.ts";
import { OPENCLAW_DATABASE } from "./openclaw-database.ts";

/** The tables since 2026.9.6. */
const TABLES = `
  CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
    created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
    PRIMARY KEY (session_id, seq)) STRICT;
  CREATE TABLE transcript_rewrite_watermarks (session_id TEXT PRIMARY KEY, generation TEXT NOT NULL,
    updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL,
    session_key TEXT NOT NULL, reason TEXT NOT NULL, encoding TEXT NOT NULL,
    archive_blob BLOB NOT NULL, archive_sha256 TEXT NOT NULL, archive_name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL, published_at INTEGER, PRIMARY KEY (session_id, generation)) STRICT;
  CREATE TABLE session_transcript_cold_archives (session_id TEXT NOT NULL PRIMARY KEY,
    generation TEXT NOT NULL, archive_name TEXT NOT NULL UNIQUE, archive_sha256 TEXT NOT NULL,
    event_count INTEGER NOT NULL, raw_bytes INTEGER NOT NULL, archive_bytes INTEGER NOT NULL,
    last_seq INTEGER NOT NULL, archived_at INTEGER NOT NULL, storage TEXT NOT NULL,
    archive_blob BLOB) STRICT;`;

const TIME = "2026-03-01T12:00:00.000Z";
const LONG = "long ".repeat(5000).trim();

function header(id: string): string {
  return JSON.stringify({ type: "session", version: 3, id, timestamp: TIME, cwd: "/srv" });
}

function said(id: string, parentId: string | null, text: string): string {
  const message = { role: "user", content: [{ type: "text", text }] };
  return JSON.stringify({ type: "message", id, parentId, timestamp: TIME, message });
}

function makeDatabase(fill: (database: DatabaseSync) => void): string {
  const path = join(createFolder(), "openclaw-agent.sqlite");
  const database = new DatabaseSync(path);
  database.exec(TABLES);
  fill(database);
  database.close();
  return path;
}

interface Packed {
  readonly packed: Uint8Array;
  readonly size: number | null;
}

function pack(text: string): Packed {
  const bytes = Buffer.from(text);
  return { packed: zstdCompressSync(bytes), size: bytes.length };
}

function store(database: DatabaseSync, id: string, events: readonly (string | Packed | null)[]) {
  const insert = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, 1, ?, ?, NULL)");
  for (const [seq, event] of events.entries()) {
    const isPacked = typeof event === "object" && event !== null;
    const text = isPacked ? null : event;
    insert.run(id, seq, text, isPacked ? event.packed : null, isPacked ? event.size : null);
  }
}

function archive(database: DatabaseSync, id: string, generation: string, blob: Uint8Array) {
  database
    .prepare("INSERT INTO session_transcript_archives VALUES (?, ?, ?, ?, ?, ?, '', ?, 1, NULL)")
    .run(id, generation, "agent:main:main", "reset", "zstd", blob, `${id}.jsonl.${generation}`);
}

function archiveCold(database: DatabaseSync, id: string, blob: Uint8Array | null) {
  const insert = "INSERT INTO session_transcript_cold_archives";
  database
    .prepare(`${insert} VALUES (?, 'g', ?, '', 2, 0, 0, 1, 1, ?, ?)`)
    .run(id, `${id}.jsonl.zst`, blob === null ? "file" : "sqlite", blob);
}

function coldRows(id: string, events: readonly string[]): Uint8Array {
  const rows = [
    { kind: "header", version: 1, sessionId: id, generation: "g" },
    ...events.map((event_json, seq) => ({
      kind: "event",
      row: { seq, event_json, created_at: 1 },
    })),
    { kind: "fts", row: { text: "found", message_id: "1", role: "user", timestamp: null } },
  ];
  return pack(`${rows.map((row) => JSON.stringify(row)).join("\n")}\n`).packed;
}

async function read(path: string, files: Record<string, Uint8Array> = {}) {
  const { sessions, problems, state } = await readWith(OPENCLAW_DATABASE, "", { path, files });
  return {
    given: sessions.map(({ session, entries }) => [session.id, ...outline(entries)]),
    problems: problems.map(({ code, line }) => ({ code, line })),
    state,
    sessions,
  };
}

describe("a large record of openclaw's", () => {
  test("is decompressed in place", async () => {
    const events = [header("a"), said("1", null, "small"), pack(said("2", "1", LONG))];
    const path = makeDatabase((database) =>
      store(database, "a", [...events, said("3", "2", "after")]),
    );
    const { given, problems } = await read(path);
    expect(given).toEqual([["a", "1<null user: small", `2<1 user: ${LONG}`, "3<2 user: after"]]);
    expect(problems).toEqual([]);
  });

  test("is counted if it is damaged, larger than declared, or missing", async () => {
    const { packed, size } = pack(said("2", "1", LONG));
    const path = makeDatabase((database) =>
      store(database, "a", [
        header("a"),
        said("1", null, "small"),
        { packed, size: 100 },
        { packed: packed.subarray(0, 30), size },
        null,

        { packed, size: null },
        { packed: Buffer.from("none"), size: 0 },
      ]),
    );
    const { given, problems } = await read(path);
    expect(given).toEqual([["a", "1<null user: small", `2<1 user: ${LONG}`]]);
    expect(problems).toEqual([3, 4, 5, 7].map((line) => ({ code: "unreadable", line })));
  });
});

describe("a session in openclaw's archives", () => {
  test("is read before later records", async () => {
    const path = makeDatabase((database) => {
      const file = [header("a"), said("1", null, "at first")].join("\n");
      archive(database, "a", "g1", pack(`${file}\n`).packed);
      archive(database, "b", "g2", Buffer.from([header("b"), said("1", null, "plain")].join("\n")));
      archive(database, "c", "g3", Buffer.alloc(0));
      store(database, "a", [header("a"), said("2", null, "since")]);
    });
    const { given, problems, sessions } = await read(path);
    expect(given).toEqual([
      ["a", "1<null user: at first"],
      ["a", "2<null user: since"],
      ["b", "1<null user: plain"],
    ]);
    expect(problems).toEqual([]);
    expect(sessions[2]?.session.metadata).toMatchObject({ gateway: { key: "agent:main:main" } });
  });

  test("may lie in the database or beside it when it was not continued", async () => {
    const path = makeDatabase((database) => {
      archiveCold(database, "a", coldRows("a", [header("a"), said("1", null, "in it")]));
      archiveCold(database, "b", null);
    });
    const { given, problems } = await read(path, {
      "../sessions/cold/b.jsonl.zst": coldRows("b", [header("b"), said("1", null, "beside it")]),
    });
    expect(given).toEqual([
      ["a", "1<null user: in it"],
      ["b", "1<null user: beside it"],
    ]);
    expect(problems).toEqual([]);
  });

  test("is counted if it cannot be read", async () => {
    const path = makeDatabase((database) => {
      archive(database, "a", "g1", pack(LONG).packed.subarray(0, 12));
      archiveCold(database, "b", null);
    });
    const { given, problems } = await read(path);
    expect(given).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(["unreadable", "unreadable"]);
  });

  test("is read once", async () => {
    const path = makeDatabase((database) => archiveCold(database, "a", coldRows("a", [])));
    const { state: resume } = await read(path);
    const database = new DatabaseSync(path);
    archive(database, "b", "g", Buffer.from(header("b")));
    database.close();
    const later = await readWith(OPENCLAW_DATABASE, "", { path, ...(resume ? { resume } : {}) });
    expect(later.sessions.map(({ session }) => session.id)).toEqual(["b"]);
  });
});

test("replaced records are read again", async () => {
  const path = makeDatabase((database) => store(database, "a", [header("a")]));
  const { state: resume } = await read(path);
  const database = new DatabaseSync(path);
  database.exec("INSERT INTO transcript_rewrite_watermarks VALUES ('a', 'g2', 1)");
  database.close();
  const later = await readWith(OPENCLAW_DATABASE, "", { path, ...(resume ? { resume } : {}) });
  expect(later.sessions.map(({ session }) => session.id)).toEqual(["a"]);
});
