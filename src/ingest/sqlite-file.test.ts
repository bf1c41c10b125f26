import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { readWith } from "../../test/support/reading.ts";
import { CURSOR_EDITOR } from "./cursor/cursor.ts";
import { cutLine, cutRecord } from "./long/long-line.ts";
import { OPENCLAW_DATABASE } from "./openclaw/openclaw-database.ts";
import { OPENCODE } from "./opencode/opencode.ts";
import { ProblemLog } from "./problems.ts";
import { type ForeignDatabase, shortColumn, textOfRow, withDatabase } from "./sqlite-file.ts";

const ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT";

function makeDatabase(sql: string): string {
  const path = join(createFolder(), "made.sqlite");
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return path;
}

async function ask<Answer>(path: string, question: (database: ForeignDatabase) => Answer) {
  const problems = new ProblemLog();
  const answers = withDatabase(path, problems, async function* (database) {
    yield question(database);
  });
  const { value } = await answers.next();
  await answers.return(undefined);
  return { answer: value as Answer, problems: problems.first.map(({ message }) => message) };
}

describe("another agent's database", () => {
  test.each(["UTF-8", "UTF-16le"])("gives long values in %s with theirs cut", async (encoding) => {
    const path = makeDatabase(
      `PRAGMA encoding = '${encoding}'; CREATE TABLE kept (id TEXT, data TEXT);`,
    );
    const long = JSON.stringify({ text: "é said ".repeat(1_000_000), number: 1 });
    const database = new DatabaseSync(path);
    const put = database.prepare("INSERT INTO kept VALUES (?, ?)");
    put.run("short", '{"text":"é"}');
    put.run("long", long);
    database.close();
    const column = { table: "kept", key: "id", column: "data" };
    const problems = new ProblemLog();
    const { answer } = await ask(path, (asked) =>
      [...asked.rows(`SELECT id, ${shortColumn("data")} FROM kept ORDER BY id DESC`)].map((row) =>
        textOfRow(asked, column, row, problems),
      ),
    );
    expect(answer[0]).toBe('{"text":"é"}');
    expect(cutRecord(answer[1] ?? "", "long", problems)).toBe(cutLine(long));
    expect(problems.first.map(({ code }) => code)).toEqual(["line_cut"]);
  });

  test("has only tables with stored rows", async () => {
    const path = makeDatabase(`
      CREATE TABLE plain (a TEXT, b TEXT AS (a || a) STORED);
      CREATE TABLE computed (a TEXT, b TEXT AS (hex(zeroblob(400000000))));
      create table "Quoted" (a TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE VIEW seen AS ${ENDLESS} x AS a FROM c;
      CREATE VIRTUAL TABLE found USING fts5(a);`);
    const names = ["plain", "computed", "Quoted", "seen", "found", "none"];
    const { answer } = await ask(path, (database) => names.filter((name) => database.has(name)));
    expect(answer).toEqual(["plain", "Quoted"]);
    const columns = await ask(path, (database) =>
      ["a", "b", "c"].filter((column) => database.has("plain", column)),
    );
    expect(columns.answer).toEqual(["a"]);
  });

  test("is not queried for a view, also inside a query", async () => {
    const path = makeDatabase(`
      CREATE TABLE session (id TEXT);
      INSERT INTO session VALUES ('s');
      CREATE VIEW message AS ${ENDLESS} x AS id FROM c;`);
    const sql = "SELECT id FROM session WHERE id NOT IN (SELECT id FROM message)";
    const { answer, problems } = await ask(path, (database) => [...database.rows(sql)]);
    expect(answer).toEqual([]);
    expect(problems).toEqual(["the database cannot be read: no such table: message"]);
  });

  test("does not hang on an endless view", async () => {
    const columns = "'a' AS id, 'a' AS session_id, 'a' AS key, x AS seq, x AS time_updated";
    const more = "'{}' AS event_json, '{}' AS value, x AS created_at, x AS time_created";
    const view = `${ENDLESS} ${columns}, ${more} FROM c`;
    const names = ["transcript_events", "session", "message", "part", "cursorDiskKV", "ItemTable"];
    const path = makeDatabase(names.map((name) => `CREATE VIEW ${name} AS ${view};`).join("\n"));
    for (const source of [OPENCLAW_DATABASE, OPENCODE, CURSOR_EDITOR]) {
      expect((await readWith(source, "", { path })).sessions).toEqual([]);
    }
  });

  test("a handcrafted schema does not pass a view off as a table", async () => {
    const path = makeDatabase("CREATE TABLE session (id TEXT)");
    const database = new DatabaseSync(path, { defensive: false } as object);
    database.exec(`PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE VIEW session AS ${ENDLESS} x AS id FROM c'`);
    database.close();
    const { answer } = await ask(path, (foreign) => foreign.has("session"));
    expect(answer).toBe(false);
  });
});
