import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import type { JsonObject } from "../../model/json.ts";
import { ZED } from "./zed.ts";

const TEXT = fixture("zed-threads/threads.json");
const THREADS = JSON.parse(TEXT) as Record<"current" | "older" | "oldest", Thread>;

interface Thread {
  readonly messages: readonly unknown[];
  readonly updated_at: string;
  readonly request_token_usage?: Record<string, { output_tokens: number }>;
}

/** The text of one thread, with numbers as they are. */
function textOf(name: string): string {
  const [, rest = ""] = TEXT.split(`"${name}": `);
  const next = { current: '"older": ', older: '"oldest": ', oldest: "\n}\n" }[name] ?? "";
  return rest.slice(0, rest.lastIndexOf("}", rest.indexOf(next)) + 1);
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function makeDatabase(columns = ", parent_id TEXT, folder_paths TEXT, created_at TEXT") {
  const folder = mkdtempSync(join(tmpdir(), "zed-"));
  folders.push(folder);
  const path = join(folder, "threads.db");
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL,
    updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL${columns})`);
  const put = (id: string, at: string, text: string | Uint8Array, type = "json") =>
    database
      .prepare(
        "INSERT OR REPLACE INTO threads (id, summary, updated_at, data_type, data) VALUES (?, '', ?, ?, ?)",
      )
      .run(id, at, type, typeof text === "string" ? Buffer.from(text) : text);
  return { path, database, put };
}

async function read(path: string, resume?: JsonObject) {
  return readWith(ZED, "", { path, ...(resume === undefined ? {} : { resume }) });
}

test("a compressed thread is a conversation", async () => {
  const { path, database, put } = makeDatabase();
  put("t1", THREADS.current.updated_at, zstdCompressSync(textOf("current")), "zstd");
  database.exec(`UPDATE threads SET summary = 'A cron job', parent_id = 'p1',
    folder_paths = '/srv/my shop' || char(10) || '/srv/b', created_at = '2026-07-04T12:00:00Z'`);
  database.close();
  const { sessions, problems, ignored } = await read(path);
  const { session, entries = [] } = sessions[0] ?? {};
  expect(session).toMatchObject({
    source: "zed",
    id: "t1",
    title: "A cron job",
    cwd: "/srv/my shop",
    parentSession: "p1",
    startedAt: Date.parse("2026-07-04T12:00:00Z"),
    metadata: { source: { fields: { cumulative_token_usage: { input_tokens: 1000 } } } },
  });
  expect(outline(entries)).toEqual([
    "u1<null user: [opaque] [image] Why does the cron job run twice?",
    "u1+1<u1 assistant: [thinking] [opaque] [terminal] [read_file] I look.",
    "u1+1/results<u1+1 tool: [failed] [result]",
    "u1+2<u1+1/results assistant: A timer starts it.",
    "u1+3<u1+2 compaction: A timer starts the job as well.",
    "u2<u1+3 user: Remove it.",
    "u2+1<u2 assistant: It is gone.",
    "u2+2<u2+1 custom: [opaque]",
  ]);
  expect(entries[1]?.blocks).toMatchObject([
    { signature: "s1" },
    {},
    {},
    { input: '{"command":"crontab -l","n":12345678901234567890}' },
    { input: '{"path":"a"}' },
  ]);
  expect(entries[2]?.blocks).toMatchObject([
    { toolUseId: "t1", toolName: "terminal", output: "no crontab" },
    { toolUseId: "t2", output: "export" },
  ]);
  expect(problems).toMatchObject([{ code: "unexpected", message: /u2\+2/ }]);
  expect([...ignored]).toEqual([["Resume", 1]]);
});

test("tokens are on the last answer to each message of the user", async () => {
  const { path, database, put } = makeDatabase();
  put("t1", THREADS.current.updated_at, textOf("current"));
  database.close();
  const { entries = [] } = (await read(path)).sessions[0] ?? {};
  const counted = entries.filter(({ usage }) => usage !== null);
  expect(counted.map(({ usage }) => usage?.outputTokens)).toEqual(
    Object.values(THREADS.current.request_token_usage ?? {}).map((each) => each.output_tokens),
  );
  expect(counted).toMatchObject([{ model: "claude-sonnet-4" }, { sourceId: "u2+1" }]);
  const said = entries.filter(({ kind, role }) => kind === "message" && role !== "tool");
  const named = THREADS.current.messages.filter(
    (message) =>
      typeof message === "object" &&
      Object.keys(message ?? {}).some((key) => /User|Agent/.test(key)),
  );
  expect(said).toHaveLength(named.length);
});

test("threads of older versions have roles", async () => {
  const { path, database, put } = makeDatabase("");
  put("t0", THREADS.oldest.updated_at, textOf("oldest"));
  put("t1", THREADS.older.updated_at, textOf("older"));
  database.close();
  const { sessions, problems } = await read(path);
  expect(sessions.map(({ entries }) => outline(entries))).toEqual([
    ["message-0<null user: Hello"],
    [
      "message-0<null user: Use the tool.",
      "message-0+1<message-0 assistant: [thinking] [terminal] Here.",
      "message-0+2<message-0+1 assistant:",
      "message-0+2/results<message-0+2 tool: [result]",
      "message-0+3<message-0+2/results system: Rules.",
    ],
  ]);
  expect(sessions[1]?.session).toMatchObject({ cwd: "/srv/old" });
  expect(problems).toEqual([]);
});

test("only threads that changed are read again, and damage is located", async () => {
  const { path, database, put } = makeDatabase();
  put("t1", "2026-07-04T12:00:00Z", textOf("oldest"));
  put("t2", "2026-07-04T12:00:01Z", textOf("oldest"));
  const { state } = await read(path);
  expect(state).toEqual({ since: "2026-07-04T12:00:01Z" });
  put("t1", "2026-07-04T12:00:02Z", textOf("older"));
  put("t3", "2026-07-04T12:00:03Z", Buffer.from("not packed"), "zstd");
  put("t4", "2026-07-04T12:00:03Z", '{"title":"x"}');
  database.close();
  const { sessions, problems } = await read(path, state);
  expect(sessions.map(({ session }) => session.id)).toEqual(["t2", "t1"]);
  expect(problems).toMatchObject([
    { code: "unreadable", message: /t3/ },
    { code: "unexpected", message: /t4/ },
  ]);
});

test("the database is recognised by its table, and found where Zed keeps it", () => {
  const { path, database } = makeDatabase();
  database.close();
  const head = readFileSync(path);
  expect(ZED.recognise(head, "/x/other.db")).toBe(true);
  const empty = Buffer.from("SQLite format 3\0");
  expect(ZED.recognise(empty, "/home/ana/.local/share/zed/threads/threads.db")).toBe(true);
  expect(ZED.recognise(empty, "/x/threads.db")).toBe(false);
  const roots = [
    { home: "/home/ana", variables: {}, platform: "linux" },
    { home: "/home/ana", variables: { XDG_DATA_HOME: "/data" }, platform: "linux" },
    { home: "/Users/ana", variables: {}, platform: "darwin" },
    { home: "C:/Users/ana", variables: {}, platform: "win32" },
  ].map((environment) => ZED.places?.(environment)[0]?.root);
  expect(roots).toEqual([
    "/home/ana/.local/share/zed/threads",
    "/data/zed/threads",
    "/Users/ana/Library/Application Support/Zed/threads",
    "C:/Users/ana/AppData/Local/Zed/threads",
  ]);
});
