import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import type { JsonObject } from "../../model/json.ts";
import { KILO, OPENCODE, OPENCODE_FILES } from "./opencode.ts";

const TREE = JSON.parse(fixture("opencode/tree.json")) as Record<string, JsonObject>;
const SESSION = "storage/session/p1/ses_1.json";

const EXPECTED = [
  "msg_1 user: Why is it slow?\nCalled the Read tool",
  "msg_2 assistant: [thinking] [bash]",
  "prt_5 tool: [result]",
  "msg_2+1 assistant: [opaque] An index is missing.",
  "msg_3 compaction: They found a missing index.",
  "msg_4 custom:",
];

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A database with the same content as the files. */
function makeDatabase(tree: Record<string, JsonObject> = TREE, updated = 1000) {
  const folder = mkdtempSync(join(tmpdir(), "opencode-"));
  folders.push(folder);
  const path = join(folder, "opencode.db");
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text,
      directory text, title text, version text, share_url text,
      time_created integer, time_updated integer, time_archived integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,
      time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text,
      time_created integer, time_updated integer, data text);`);
  for (const [name, { id, ...data }] of Object.entries(tree)) {
    const [, table, owner = ""] = name.split("/");
    const text = JSON.stringify(data);
    if (table === "session") {
      database
        .prepare(
          "INSERT INTO session VALUES (?, 'p1', NULL, 'slow', ?, ?, '1.2', NULL, ?, ?, NULL)",
        )
        .run(String(id), String(data["directory"]), String(data["title"]), 1761990000000, updated);
    } else if (table === "message") {
      const { created } = data["time"] as { created: number };
      const insert = database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
      insert.run(String(id), owner, created, updated, text);
    } else {
      const insert = database.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', 0, ?, ?)");
      insert.run(String(id), owner, updated, text);
    }
  }
  return { path, database };
}

async function readDatabase(path: string, resume?: JsonObject, source = OPENCODE) {
  const options = { path, ...(resume === undefined ? {} : { resume }) };
  const { sessions, ...rest } = await readWith(source, "", options);
  return { sessions, entries: sessions[0]?.entries ?? [], ...rest };
}

async function readFiles(tree: Record<string, JsonObject> = TREE) {
  const files = Object.fromEntries(
    Object.entries(tree).map(([name, value]) => [
      name.replace(/^storage/, "../.."),
      JSON.stringify(value),
    ]),
  );
  const { sessions, problems } = await readWith(OPENCODE_FILES, JSON.stringify(tree[SESSION]), {
    path: `/data/${SESSION}`,
    files,
  });
  return { session: sessions[0]?.session, entries: sessions[0]?.entries ?? [], problems };
}

describe("the files", () => {
  test("are a session with steps, tools and a summary", async () => {
    const { session, entries, problems } = await readFiles();
    expect(session).toMatchObject({
      source: "opencode",
      id: "ses_1",
      title: "A slow query",
      cwd: "/srv/shop",
      startedAt: 1761990000000,
    });
    expect(outline(entries)).toEqual(EXPECTED);
    expect(problems).toEqual([{ code: "unexpected", message: expect.stringContaining('"robot"') }]);
  });

  test("have usage per step, and tool results", async () => {
    const { entries } = await readFiles();
    expect(entries[1]).toMatchObject({
      model: "large-4",
      createdAt: 1761990001000,
      usage: { inputTokens: 10, outputTokens: 5, cacheCreationTokens: 1, cacheReadTokens: 0 },
      metadata: { source: { id: "msg_2", fields: { providerID: "p", cost: 0.01 } } },
    });
    expect(entries[2]).toMatchObject({
      actor: "bash",
      createdAt: 1761990003000,
      blocks: [{ toolUseId: "call_1", output: "seq scan", isError: false }],
      metadata: { source: { fields: { title: "explain", metadata: { exit: 0 } } } },
    });
  });

  test("that are damaged lose only their own content", async () => {
    const damaged = { ...TREE, "storage/part/msg_2/prt_8.json": [] as unknown as JsonObject };
    const { entries, problems } = await readFiles(damaged);
    expect(outline(entries)[3]).toBe("msg_2+1 assistant: [opaque]");
    expect(problems[0]).toMatchObject({ code: "not_json", message: /prt_8/ });
  });
});

describe("the database", () => {
  test("gives the same as the files, also with a log beside it", async () => {
    const { path, database } = makeDatabase();
    const { sessions, entries } = await readDatabase(path);
    expect(sessions[0]?.session).toMatchObject({ id: "ses_1", title: "A slow query" });
    expect(outline(entries)).toEqual(EXPECTED);
    const fromFiles = (await readFiles()).entries;
    expect(entries.map(({ usage }) => usage)).toEqual(fromFiles.map(({ usage }) => usage));
    database.close();
  });

  test("is recognised by its tables, whatever its name", () => {
    const { path, database } = makeDatabase();
    database.close();
    const head = readFileSync(path);
    expect(OPENCODE.recognise(head, "/x/other.db")).toBe(true);
    expect(OPENCODE.recognise(Buffer.from("SQLite format 3\0"), "/x/opencode.db")).toBe(true);
    expect(OPENCODE.recognise(Buffer.from("SQLite format 3\0"), "/x/other.db")).toBe(false);
  });

  test("is queried for changes since", async () => {
    const { path, database } = makeDatabase();
    const { state } = await readDatabase(path);
    expect(state).toEqual({ since: 1000 });
    database.exec("UPDATE session SET time_updated = 900; UPDATE message SET time_updated = 900");
    database.exec("UPDATE part SET time_updated = 900");
    database.exec(
      "INSERT INTO session (id, time_created, time_updated) VALUES ('ses_9', 9e12, 1000)",
    );
    const { sessions } = await readDatabase(path, state);
    expect(sessions.map(({ session }) => session.id)).toEqual(["ses_9"]);
    database.exec("UPDATE part SET time_updated = 2000 WHERE id = 'prt_c'");
    expect((await readDatabase(path, state)).entries).toHaveLength(EXPECTED.length);
    database.close();
  });

  test("gives an incomplete step once it is complete", async () => {
    const now = Date.now();
    const { "storage/message/ses_1/msg_2.json": answer = {}, ...rest } = TREE;
    const open = { ...answer, time: { created: 1761990001000 } };
    const names = Object.keys(rest).filter((name) => !/msg_[34]|prt_b/.test(name));
    const tree = Object.fromEntries(names.map((name) => [name, rest[name] as JsonObject]));
    const path = "storage/message/ses_1/msg_2.json";
    const live = makeDatabase({ ...tree, [path]: open }, now);
    const first = await readDatabase(live.path);
    expect(outline(first.entries)).toEqual(EXPECTED.slice(0, 3));
    // A row stamped a moment ago may be committed in a moment.
    expect(first.state?.["since"]).toBeLessThanOrEqual(Date.now() - 59_000);
    live.database.exec(`UPDATE message SET time_updated = ${now - 3_600_000}`);
    expect(outline((await readDatabase(live.path)).entries)).toEqual(EXPECTED.slice(0, 4));
    live.database.close();
  });

  test("that is invalid is a problem", async () => {
    const { sessions, problems } = await readDatabase("/no/such/opencode.db");
    expect([sessions, problems.map(({ code }) => code)]).toEqual([[], ["unexpected"]]);
  });

  test("without the tables gives nothing", async () => {
    const { path, database } = makeDatabase();
    database.exec("DROP TABLE session");
    expect((await readDatabase(path)).sessions).toEqual([]);
    database.close();
  });
});

test("a database of Kilo Code has the same content under its name", async () => {
  const { path, database } = makeDatabase();
  const { sessions, entries, state } = await readDatabase(path, undefined, KILO);
  expect(sessions[0]?.session).toMatchObject({ source: "kilo", agent: "kilo", id: "ses_1" });
  expect(outline(entries)).toEqual(EXPECTED);
  expect(entries.map(({ actor }) => actor)).toEqual([null, "kilo", "bash", "kilo", "kilo", null]);
  expect(
    (await readDatabase(path, { since: 2000 + Number(state?.["since"]) }, KILO)).sessions,
  ).toHaveLength(1);
  database.exec("CREATE TABLE kilo_board (id text)");
  database.close();
  const head = readFileSync(path);
  const recognised = ["/x/kilo.db", "/x/kilo-beta.db", "/x/other.db", "/x/opencode.db"].map(
    (name) => [KILO.recognise(head, name), OPENCODE.recognise(head, name)],
  );
  expect(recognised).toEqual([
    [true, false],
    [true, false],
    [true, false],
    [false, true],
  ]);
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [place] = KILO.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/.local/share/kilo");
  expect([place?.matches("kilo.db"), place?.matches("kilo.db-wal")]).toEqual([true, false]);
  const moved = { ...environment, variables: { KILO_DB: "~/work.db" } };
  expect(KILO.places?.(moved)[1]).toMatchObject({ root: "/home/ana/work.db" });
});

test("messages in a form that no version writes yet are counted", async () => {
  const { path, database } = makeDatabase();
  database.exec(`CREATE TABLE session_message (id text, session_id text, data text);
    INSERT INTO session_message VALUES ('a', 'ses_1', '{}'), ('b', 'ses_2', '{}')`);
  database.close();
  const { problems } = await readDatabase(path);
  expect(problems.at(-1)).toMatchObject({ code: "unexpected", message: /^1 message / });
});

test("places follow the variable for data", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  expect(OPENCODE.places?.(environment)[0]?.root).toBe("/home/ana/.local/share/opencode");
  const moved = { ...environment, variables: { XDG_DATA_HOME: "/data" } };
  const [place] = OPENCODE_FILES.places?.(moved) ?? [];
  expect(place?.root).toBe("/data/opencode/storage");
  expect(place?.matches("session/p1/ses_1.json")).toBe(true);
  expect(place?.matches("message/ses_1/msg_1.json")).toBe(false);
  expect(OPENCODE.resumeCommand?.({ id: "ses_1", cwd: null })).toBe("opencode --session ses_1");
});
