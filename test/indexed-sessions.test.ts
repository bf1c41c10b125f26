/** The SQL view of ingested sessions as rows: the same columns on both databases. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createMachine, notes } from "../src/archive/archive.cases.ts";
import { open } from "../src/open.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

interface Backend {
  readonly address: string;
  read(sql: string): Promise<Record<string, unknown>[]>;
}

async function sqlite(): Promise<Backend> {
  const address = join(createFolder(), "store.db");
  return {
    address,
    async read(sql) {
      const db = new DatabaseSync(address, { readOnly: true });
      const rows = db.prepare(sql).all() as Record<string, unknown>[];
      db.close();
      return rows;
    },
  };
}

async function postgres(): Promise<Backend> {
  const address = await createDatabase();
  return {
    address,
    async read(sql) {
      const client = new pg.Client(address);
      await client.connect();
      await client.query("SELECT set_config('backscroll.tenant', '1', false)");
      const { rows } = await client.query(sql);
      await client.end();
      return rows;
    },
  };
}

const COLUMNS = [
  "composite_key",
  "workstation_id",
  "project_id",
  "session_id",
  "project_path",
  "git_branch",
  "exchange_count",
  "tool_counts",
  "content",
  "file_mtime",
  "first_msg_at",
  "last_msg_at",
  "created_at",
  "updated_at",
  "tenant",
];

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])("indexed_sessions on %s", (_name, create) => {
  test("has a row for each ingested session, and none for others", async () => {
    const { address, read } = await create();
    const machine = createMachine();
    const tool = { text: "I look.\nA <b>moment</b>.", role: "assistant", tool: "bash" };
    const again = { ...tool, text: `${"long ".repeat(2_000)}end` };
    const odd = { text: "nul \u0000 and half a pair \ud800", role: "user" };
    const file = machine.put("notes/a.jsonl", notes("Fix the cron job", tool, again, odd));
    {
      await using engine = await open(address);
      await engine.createSession({ agent: "coder", createdBy: "ana" });
      await machine.run(engine);
    }
    const [row = {}, ...more] = await read("SELECT * FROM indexed_sessions");
    expect(more).toEqual([]);
    expect(Object.keys(row)).toEqual(COLUMNS);
    expect(row).toMatchObject({
      composite_key: "w1:e7c7ea0b:s1",
      workstation_id: "w1",
      project_id: "e7c7ea0b",
      session_id: "s1",
      project_path: "/srv/shop",
      git_branch: null,
      tenant: "default",
    });
    expect(Number(row["exchange_count"])).toBe(2);
    expect(Number(row["file_mtime"])).toBe(Math.floor(statSync(file).mtimeMs / 1000));
    expect(new Date(row["first_msg_at"] as string).getTime()).toBe(1_001);
    expect(new Date(row["last_msg_at"] as string).getTime()).toBe(1_004);
    // The conversation as plain text.
    expect(row["content"]).toMatch(
      /^User: Fix the cron job\nAssistant: I look\.\nA <b>moment<\/b>\./,
    );
    expect(row["content"]).not.toMatch(/"type"|tool_use/);
    // Tool counts are JSON in one column.
    expect(JSON.parse(String(row["tool_counts"]))).toEqual({ bash: 2 });
  });
});
