/** The tail stays bounded through crashes, searches and bulk writes. */

import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { createDatabase, query } from "../../test/support/postgres.ts";
import { open } from "../open.ts";
import { talk } from "./cases/search-fixture.cases.ts";

const FLUSH_AT = 20;

const ADDRESSES: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => join(createFolder(), "x.db")],
  ["PostgreSQL", createDatabase],
];

/** Leaves the lease as a process does that was killed while holding it. */
async function dieHolding(address: string): Promise<void> {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const holder = `${hostname()}|${pid}|0|killed`;
  const sql = `UPDATE index_manifest SET holder = '${holder}', expires_at = ${Date.now() + 3_600_000}`;
  if (address.startsWith("postgres")) {
    await query(address, sql);
    return;
  }
  const db = new DatabaseSync(address, { timeout: 10_000 });
  db.exec(sql);
  db.close();
}

test.each(ADDRESSES)(
  "the tail stays bounded after repeatedly killed lease holders, on %s",
  async (_name, address) => {
    const at = await address();
    await using engine = await open(at, { indexing: { flushAt: FLUSH_AT } });
    const session = await talk(engine, ["first"]);
    for (let killed = 0; killed < 4; killed++) {
      await dieHolding(at);
      for (let i = 0; i < 3; i++) {
        await session.append(
          Array.from({ length: FLUSH_AT }, (_, k) => ({
            role: "user" as const,
            actor: "ana",
            content: `word ${killed} ${i} ${k}`,
          })),
        );
      }
      await expect.poll(async () => (await engine.indexStatus()).lag).toBeLessThan(FLUSH_AT);
    }
  },
);

test("a search triggers the maintenance that dead writers left undone", async () => {
  const at = join(createFolder(), "x.db");
  {
    await using writer = await open(at, { indexing: { flushAt: 0 } });
    await talk(
      writer,
      Array.from({ length: 5 * FLUSH_AT }, (_, i) => `okapi ${i}`),
    );
    await writer.maintainIndex("flush");
    await talk(
      writer,
      Array.from({ length: 5 * FLUSH_AT }, (_, i) => `quagga ${i}`),
    );
  }
  await dieHolding(at);
  await using engine = await open(at, { indexing: { flushAt: FLUSH_AT } });
  expect((await engine.searchSessions("quagga")).hits).toHaveLength(1);
  await expect.poll(async () => (await engine.indexStatus()).lag).toBeLessThan(FLUSH_AT);
});

test("a few large messages trigger a flush by their bytes", async () => {
  await using engine = await open(join(createFolder(), "x.db"));
  const session = await talk(engine, ["first"]);
  const output = "lorem ipsum dolor ".repeat(60_000);
  for (let i = 0; i < 10; i++) {
    await session.append({
      role: "assistant",
      toolCalls: [{ id: `${i}`, name: "Read", arguments: {} }],
      toolResults: [{ id: `${i}`, name: "Read", output: `${i} ${output}` }],
    });
  }
  await expect.poll(async () => (await engine.indexStatus()).segments).toBeGreaterThan(0);
});
