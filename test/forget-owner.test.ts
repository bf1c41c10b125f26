/**
 * After `owned(…).forget()` nothing of the owner is left: in no column of any table, in no segment of the
 * index and, on SQLite, in no byte of the files. Every text of the owner has a word of its own.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ingest } from "../src/archive/index.ts";
import { type Engine, open } from "../src/index.ts";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase, query } from "./support/postgres.ts";

/** A word that stemming leaves alone, for one place; `fill` writes each. */
const word = (place: string) => `zq${place}xk`;
const PLACES =
  "title metadata asked called printed thought answered rawvalue custom labelled summary factobject streamed large elsewhere sourced ownmemory takenmemory keyedrecord recordtext bytesrecord valuerecord routefield forked transcript unused aboutthem unflushed".split(
    " ",
  );

async function fill(engine: Engine, home: string): Promise<void> {
  const session = await engine.createSession({
    id: "hers",
    agent: "coder",
    createdBy: "ana",
    title: `The ${word("title")} of it`,
    metadata: { note: word("metadata") },
  });
  const { id: first } = await session.append({
    role: "user",
    actor: "ana",
    content: `Why ${word("asked")}? ${"filler ".repeat(2_000)} ${word("large")}`,
    raw: { value: word("rawvalue") },
  });
  await session.append({
    role: "assistant",
    content: [
      { type: "thinking", text: word("thought") },
      { type: "text", text: `Because ${word("answered")}.` },
      { type: "tool_use", id: "1", name: "bash", input: { command: `echo ${word("called")}` } },
    ],
    toolResults: [{ id: "1", name: "bash", output: word("printed") }],
  });
  await session.appendCustom("state", { state: word("custom") });
  await session.label(first, word("labelled"));
  await session.addFacts([{ subject: "lock", predicate: "is", object: word("factobject") }]);
  const stream = await session.openMessage({ role: "assistant" });
  await stream.write(word("streamed"));
  await stream.commit();
  const fork = await session.fork({ id: "fork", createdBy: "ben" });
  await fork.append({ role: "assistant", content: `As you said: ${word("forked")}` });
  const summary = `They asked: ${word("summary")}`;
  await session.compact({ keep: { messages: 1 }, before: () => ({ summary }) });

  const others = await engine.createSession({ id: "of-ben", agent: "coder", createdBy: "ben" });
  await others.append({ role: "user", actor: "ben", content: "The quokka stays." });
  const { id: theirs } = await others.append({
    role: "user",
    actor: "ana",
    content: `But ${word("elsewhere")}.`,
  });
  await others.pin(theirs);
  await others.addFacts([
    { subject: "lock", predicate: "is", object: word("sourced"), sourceEntry: theirs },
    { subject: "ana", predicate: "likes", object: word("aboutthem") },
    { subject: "quokka", predicate: "is", object: "kept" },
  ]);

  const own = { agent: "ana", name: "style", content: word("ownmemory") };
  await engine.putMemory(own);
  const metadata = { sessionId: "hers" };
  await engine.putMemory({ agent: "coder", name: "m", content: word("takenmemory"), metadata });
  await engine.putMemory({ agent: "ben", name: "m", content: "The quokka's memory." });
  const bytes = new TextEncoder().encode(word("bytesrecord"));
  await engine.records.write([
    {
      put: {
        namespace: "prefs",
        key: "user/ana",
        value: word("keyedrecord"),
        text: word("recordtext"),
      },
    },
    { put: { namespace: "ana", key: "k", value: bytes } },
    {
      put: {
        namespace: "threads",
        key: "7",
        value: { resourceId: "ana", title: word("valuerecord") },
      },
    },
    { put: { namespace: "threads", key: "8", value: { resourceId: "ben", title: "quokka" } } },
    { put: { namespace: "prefs", key: "user/banana", value: "quokka" } },
  ]);
  const fields = { displayName: word("routefield") };
  await engine.routes.put("agent:coder:main", { sessionId: "hers", fields });
  await engine.routes.put("agent:coder:ben", { sessionId: "of-ben" });
  await engine.createToken({ scope: "write", actor: "ana" });
  await engine.createToken({ scope: "write", actor: "ben" });
  await engine.shares.create("hers");

  const cwd = join(home, "shop");
  const file = writeTurn(home, { id: "5f0c2a91", cwd, text: word("transcript") });
  // A record without conversation content is counted, and its bytes are kept.
  writeFileSync(file, `${JSON.stringify({ type: "progress", data: word("unused") })}\n`, {
    flag: "a",
  });
  const environment = { home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" as const };
  await ingest(engine, { environment });
  for (const { id, title } of (await engine.listSessions({ source: "claude-code" })).sessions) {
    expect(title).toContain(word("transcript"));
    await (await engine.getSession(id)).update({ owner: "ana" });
  }
  await engine.maintainIndex("flush");
  await engine.maintainIndex("merge");
  await session.append({ role: "user", actor: "ana", content: word("unflushed") });
}

/** Every value of every column, by table and column. */
type Tables = ReadonlyMap<string, readonly Buffer[]>;

function columnsOf(table: string, rows: readonly Record<string, unknown>[]): Map<string, Buffer[]> {
  const columns = new Map<string, Buffer[]>();
  for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
    if (typeof value !== "string" && !(value instanceof Uint8Array)) continue;
    const name = `${table}.${column}`;
    columns.set(name, [...(columns.get(name) ?? []), Buffer.from(value as string)]);
  }
  return columns;
}

function readSqlite(file: string): Tables {
  const all = new Map<string, Buffer[]>();
  for (const name of [file, `${file}-index`]) {
    const db = new DatabaseSync(name, { readOnly: true });
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name: table } of tables) {
      const rows = db.prepare(`SELECT * FROM ${String(table)}`).all();
      for (const [column, values] of columnsOf(String(table), rows)) all.set(column, values);
    }
    db.close();
  }
  return all;
}

async function readPostgres(address: string): Promise<Tables> {
  const all = new Map<string, Buffer[]>();
  const tables = await query(
    address,
    "SELECT schemaname || '.' || relname AS name, relname AS short FROM pg_stat_user_tables",
  );
  for (const { name, short } of tables) {
    const rows = await query(address, `SELECT * FROM ${String(name)}`);
    for (const [column, values] of columnsOf(String(short), rows)) all.set(column, values);
  }
  return all;
}

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The value, and what is compressed in it. */
function plain(value: Buffer): string {
  const at = value.indexOf(ZSTD);
  const unpacked = at < 0 ? "" : zstdDecompressSync(value.subarray(at)).toString("latin1");
  return (value.toString("latin1") + unpacked).toLowerCase();
}

/** The columns in which a text stands; of `ana` as a whole word. */
function columnsWith(tables: Tables, text: string | RegExp): string[] {
  return [...tables].flatMap(([column, values]) =>
    values.some((value) => plain(value).search(text) >= 0) ? [column] : [],
  );
}

const NAME = /(?<![a-z])ana(?![a-z])/;

/** Columns that keep the name: of a token's actor, a memory's agent, a record's key. No content. */
const NAMED = ["access_tokens.actor", "changes.details", "index_blobs.bytes"];

function expectErased(before: Tables, after: Tables): void {
  for (const place of PLACES) {
    expect(columnsWith(before, word(place)), place).not.toEqual([]);
    expect(columnsWith(after, word(place)), place).toEqual([]);
  }
  expect(columnsWith(after, NAME).sort()).toEqual(NAMED);
  expect(columnsWith(after, "quokka").sort()).toEqual([
    "entries.content",
    "facts.subject",
    "index_blobs.bytes",
    "memories.content",
    "records.value",
  ]);
}

const COUNTS = {
  sessions: 3,
  entries: 1,
  facts: 2,
  memories: 2,
  records: 3,
  routes: 1,
  tokens: 2,
  participations: 1,
  summaries: 0,
};

async function expectOthersKept(engine: Engine): Promise<void> {
  const { sessions } = await engine.listSessions();
  expect(sessions.map(({ id, participants }) => [id, participants])).toEqual([["of-ben", ["ben"]]]);
  const { entries } = await (await engine.getSession("of-ben")).listEntries({ tree: true });
  expect(entries.filter(({ erased }) => !erased)).toHaveLength(1);
  expect(await engine.listFacts()).toMatchObject([{ object: "kept" }]);
  expect(await engine.listMemories()).toMatchObject([{ agent: "ben" }]);
  expect(await engine.records.find("prefs", "user/banana")).toMatchObject({ value: "quokka" });
  expect((await engine.searchSessions("quokka")).hits).toHaveLength(1);
  for (const place of PLACES) {
    expect((await engine.searchSessions(word(place))).hits, place).toEqual([]);
  }
  expect(await engine.verify()).toMatchObject({ ok: true });
}

describe("everything of an owner", () => {
  test("on SQLite is in no byte of the files, and is not ingested again", async () => {
    const home = createFolder();
    const db = join(home, "store", "a.db");
    const env = { HOME: home, BACKSCROLL_DB: db, WORKSTATION_ID: "w1" };
    await using engine = await open(db, { inThread: true, indexing: { flushAt: 0 } });
    await fill(engine, home);
    await engine.close();
    const before = readSqlite(db);
    const packed = [...before.values()].flat().filter((value) => value.indexOf(ZSTD) === 0);

    const cli = (...args: string[]) => callCli(args, { cwd: home, env });
    const dry = await cli("forget", "--owner", "ana", "--dry-run", "--json");
    expect(JSON.parse(dry.stdout)).toEqual({ dry_run: true, owner: "ana", ...COUNTS });
    const refused = await cli("forget", "--owner", "ana");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const exported = await cli("export", "--owner", "ana", "--raw");
    // What another person wrote in a fork; base64; what only export --original gives.
    const elsewhere = ["forked", "bytesrecord", "unused"];
    for (const place of PLACES)
      if (!elsewhere.includes(place)) expect(exported.stdout).toContain(word(place));
    const done = await cli("forget", "--owner", "ana", "--yes");
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toBe(
      "Forgot: 3 sessions, 1 message, 1 participation, 2 facts, 2 memories, 3 records, 1 route, 2 tokens.\n",
    );

    const bytes = readdirSync(join(home, "store")).map((file) =>
      readFileSync(join(home, "store", file)),
    );
    for (const place of PLACES) {
      const found = bytes.some((each) =>
        each.toString("latin1").toLowerCase().includes(word(place)),
      );
      expect(found, place).toBe(false);
    }
    const theirs = packed.filter((value) =>
      PLACES.some((place) => plain(value).includes(word(place))),
    );
    expect(theirs.length).toBeGreaterThan(0);
    for (const value of theirs) expect(bytes.some((each) => each.includes(value))).toBe(false);
    expectErased(before, readSqlite(db));
    const again = await cli("ingest", "--json");
    expect(JSON.parse(again.stdout).totals.sessions).toMatchObject({ new: 0 });
    const nothing = await cli("forget", "--owner", "ana", "--yes");
    expect([nothing.code, nothing.stdout]).toEqual([1, "Forgot: nothing.\n"]);
    await using after = await open(db, { inThread: true });
    await expectOthersKept(after);
  });

  test("on PostgreSQL is in no column of any table", async () => {
    const home = createFolder();
    const address = await createDatabase();
    await using engine = await open(address);
    await fill(engine, home);
    const before = await readPostgres(address);
    expect(await engine.owned("ana").forget({ dryRun: true })).toEqual(COUNTS);
    expect(await engine.owned("ana").forget()).toEqual(COUNTS);
    expectErased(before, await readPostgres(address));
    await expectOthersKept(engine);
    const nothing = Object.fromEntries(Object.keys(COUNTS).map((name) => [name, 0]));
    expect(await engine.owned("ana").forget()).toEqual(nothing);
  });
});
