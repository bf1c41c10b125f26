import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createMachine, notes } from "../src/archive/archive.cases.ts";
import { open } from "../src/open.ts";
import { createFolder } from "./support/folder.ts";

/** Other programs read a store with their own SQLite: 3.31 (2020) must parse its schema. */

/** Later features, with their versions. */
const NEWER: readonly (readonly [since: string, pattern: RegExp])[] = [
  ["3.32", /\biif\s*\(/i],
  ["3.35", /\bMATERIALIZED\b|\bRETURNING\b|\b(ceil|floor|log|pow|sqrt|trunc|mod)\s*\(/i],
  ["3.37", /\)\s*STRICT\b|,\s*STRICT\b/i],
  ["3.38", /->|\bunixepoch\s*\(|\bformat\s*\(/i],
  ["3.39", /\bDISTINCT\s+FROM\b|\b(RIGHT|FULL)\s+(OUTER\s+)?JOIN\b/i],
  ["3.41", /\bunhex\s*\(/i],
  ["3.43", /\boctet_length\s*\(|\btimediff\s*\(/i],
  ["3.44", /\bstring_agg\s*\(|\bconcat(_ws)?\s*\(/i],
  ["3.45", /\bjsonb\w*\s*\(/i],
  ["3.46", /\b\d+_\d+\b/],
];

/** Calls that have an ORDER BY among their arguments, which 3.44 brought. */
function orderedAggregates(sql: string): string[] {
  const found: string[] = [];
  for (const { index } of sql.matchAll(/\b\w+\s*\(/g)) {
    let depth = 0;
    for (let at = sql.indexOf("(", index); at < sql.length; at++) {
      if (sql[at] === "(") depth++;
      if (sql[at] === ")" && --depth === 0) break;
      const isOrder = depth === 1 && /^\sORDER\s+BY\b/i.test(sql.slice(at, at + 20));
      const isCall = !/^(FROM|IN|AS|EXISTS|AND|OR|OVER|SELECT)\b/i.test(sql.slice(index));
      if (isOrder && isCall) found.push(sql.slice(index, at));
    }
  }
  return found;
}

async function store(): Promise<string> {
  const address = join(createFolder(), "store.db");
  const machine = createMachine();
  machine.put("notes/a.jsonl", notes("one", "two", "three"));
  await using engine = await open(address);
  await machine.run(engine);
  return address;
}

test("the schema uses no feature newer than SQLite 3.31", async () => {
  const db = new DatabaseSync(await store(), { readOnly: true });
  const rows = db.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  db.close();
  const newer = rows.flatMap(({ name, sql }) => {
    const text = String(sql)
      .replace(/'[^']*'/g, "''")
      .replace(/--.*$/gm, "");
    const known = NEWER.filter(([, pattern]) => pattern.test(text)).map(([since]) => since);
    return [...known, ...orderedAggregates(text)].map((what) => `${String(name)}: ${what}`);
  });
  expect(newer).toEqual([]);
  expect(orderedAggregates("SELECT group_concat(a, ',' ORDER BY b) FROM t")).toHaveLength(1);
});

/** An additional check where the machine has the command: the test above inspects the schema anywhere. */
const hasCommand = spawnSync("sqlite3", ["--version"]).status === 0;

test.skipIf(!hasCommand)("the system's own sqlite3 reads the documented views", async () => {
  const address = await store();
  const { stdout, stderr } = spawnSync(
    "sqlite3",
    ["-readonly", address, "SELECT content FROM indexed_sessions; SELECT count(*) > 0 FROM feed;"],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(stdout).toBe("User: one\nUser: two\nUser: three\n1\n");
});
