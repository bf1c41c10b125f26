/** The text analysis is a setting of the store, equal for every process. */

import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { createDatabase, query } from "../../test/support/postgres.ts";
import { open, openStore } from "../open.ts";
import { talk } from "./cases/search-fixture.cases.ts";
import type { TenantEngine } from "./tenant-engine.ts";

const BACKENDS: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => join(createFolder(), "x.db")],
  ["PostgreSQL", createDatabase],
];

async function fill(tenant: TenantEngine): Promise<void> {
  await talk(tenant, [
    {
      role: "assistant",
      content: "I look",
      toolCalls: [{ id: "1", name: "Bash", arguments: { command: "kudu" } }],
      toolResults: [{ id: "1", name: "Bash", output: "impala" }],
    },
  ]);
}

const found = async (tenant: TenantEngine, query: string) =>
  (await tenant.searchSessions(query)).hits.length;

describe.each(BACKENDS)("the index of a store on %s", (_name, address) => {
  test("keeps the setting of its creation, against later requests", async () => {
    const at = await address();
    {
      await using engine = await open(at, { indexing: { tools: "inputs", flushAt: 0 } });
      await fill(engine);
      await engine.maintainIndex("flush");
      expect(await engine.indexSetting()).toEqual({ tools: "inputs", language: "english" });
      expect([await found(engine, "kudu"), await found(engine, "impala")]).toEqual([1, 0]);
    }
    const warnings: string[] = [];
    const onWarning = (sentence: string) => warnings.push(sentence);
    await using engine = await open(at, { indexing: { tools: "all" }, onWarning });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("indexing.tools is inputs in the store, not all");
    const { hits, indexing } = await engine.searchSessions("kudu");
    expect([hits.length, indexing]).toEqual([1, false]);
    expect(await found(engine, "impala")).toBe(0);
  });

  test("is kept by a process without a setting", async () => {
    const at = await address();
    await using writer = await open(at, { indexing: { tools: "names", flushAt: 0 } });
    await fill(writer);
    await writer.maintainIndex("flush");
    await using reader = await open(at);
    expect(await reader.searchSessions("look")).toMatchObject({ indexing: false });
    expect((await reader.indexStatus()).analyzers).toHaveLength(1);
  });

  test("is rebuilt when the setting changes", async () => {
    const at = await address();
    await using engine = await open(at, { indexing: { tools: "names", flushAt: 0 } });
    await fill(engine);
    await engine.maintainIndex("flush");
    expect(await found(engine, "impala")).toBe(0);
    await engine.setIndexing({ tools: "all" });
    await engine.maintainIndex("maintain");
    expect(await engine.searchSessions("impala")).toMatchObject({
      indexing: false,
      hits: [{ meta: { agent: "coder" } }],
    });
    await expect(engine.setIndexing({ tools: "some" as never })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  test("is taken over at once from a dead process of this machine", async () => {
    const at = await address();
    await using engine = await open(at, { indexing: { flushAt: 0 } });
    await fill(engine);
    await engine.maintainIndex("flush");
    await fill(engine);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const take = (holder: string) => hold(at, holder, Date.now() + 3_600_000);
    await take(`${hostname()}|${pid}|0|x`);
    expect((await engine.maintainIndex("flush")).lag).toBe(0);
    // A living process, or one of another machine, keeps its lease.
    await fill(engine);
    const store = await openStore(at, { indexing: { flushAt: 0 } });
    for (const holder of [`${hostname()}|${process.ppid}|0|x`, `elsewhere|${pid}|0|x`]) {
      await take(holder);
      expect(await store.maintain(engine.tenant, "flush")).toMatchObject({ busy: true });
    }
    await store.close();
  });
});

async function hold(address: string, holder: string, until: number): Promise<void> {
  const sql = `UPDATE index_manifest SET holder = '${holder}', expires_at = ${until}`;
  if (address.startsWith("postgres")) {
    await query(address, sql);
    return;
  }
  const db = new DatabaseSync(address);
  db.exec(sql);
  db.close();
}
