/** Invariants of vectors under kills, purges, both databases, and without an embedder. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Engine, open } from "../src/index.ts";
import { quantize } from "../src/search/vectors/quantize.ts";
import { callCli, environmentOf, ROOT } from "./support/cli.ts";
import {
  type EmbeddingServer,
  startEmbeddingServer,
  vectorOf,
} from "./support/embedding-server.ts";
import { removeFolder } from "./support/folder.ts";
import { createDatabase, query } from "./support/postgres.ts";

/** A global of the runtime that only the DOM types declare. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object };

const folder = mkdtempSync(join(tmpdir(), "backscroll-proofs-"));
let server: EmbeddingServer;

beforeAll(async () => {
  server = await startEmbeddingServer();
});
afterAll(async () => {
  await server.close();
  await removeFolder(folder);
});

const embedder = {
  name: "bag",
  embed: async (texts: readonly string[]) => texts.map((text) => vectorOf(text)),
};
/** The first values blob of a vector segment; words have none with so large a number. */
const FIRST_VALUES = 2 ** 24;

/** Stores the same sessions in any database. */
async function fill(engine: Engine): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [i, text] of TEXTS.entries()) {
    const startedAt = Date.UTC(2026, 0, 1 + i);
    const session = await engine.createSession({
      agent: "coder",
      createdBy: "ana",
      title: `Talk ${i}`,
      startedAt,
    });
    await session.append([
      { role: "user", actor: "ana", content: text, createdAt: startedAt },
      { role: "assistant", actor: "coder", content: `Noted, ${i}.`, createdAt: startedAt + 1 },
    ]);
    ids.push(session.id);
  }
  return ids;
}

const TEXTS = [
  "The cat sleeps on the sofa.",
  "The payment is slow.",
  "The car is broken again.",
  "The database is slow on Mondays.",
];
const QUERIES = ["kitten naps", "sluggish billing", "the faulty car", "slow storage"];

async function answers(engine: Engine, ranking?: { readonly meaning: number }) {
  const found = [];
  for (const each of QUERIES) {
    const options = ranking === undefined ? {} : { ranking };
    const { hits, notes } = await engine.searchSessions(each, { ...options, explain: true });
    found.push({
      notes,
      hits: hits.map(({ meta, index, score, similarity, parts }) => {
        return { title: meta.title, index, score, similarity, parts };
      }),
    });
  }
  return found;
}

test("SQLite and PostgreSQL have the same vectors and scores, to the last bit", async () => {
  const file = join(folder, "same.db");
  const database = await createDatabase();
  const found = [];
  for (const address of [file, database]) {
    // Without an embedder: background embedding would split segments nondeterministically.
    await using before = await open(address);
    await fill(before);
    await before.close();
    await using engine = await open(address, { embedder, embedDeadlineMs: 60_000 });
    await engine.embedStored();
    await engine.maintainIndex("merge");
    found.push(await answers(engine));
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[0]?.every(({ hits }) => hits[0]?.similarity !== undefined)).toBe(true);
  using index = new DatabaseSync(`${file}-index`, { readOnly: true });
  const ofSqlite = index
    .prepare("SELECT bytes FROM index_blobs WHERE blob > ? ORDER BY blob")
    .all(FIRST_VALUES);
  const sql = "SELECT bytes FROM index_blobs WHERE blob > $1 ORDER BY blob";
  const hashes = (rows: readonly Record<string, unknown>[]) =>
    rows.map(({ bytes }) =>
      createHash("sha256")
        .update(bytes as Uint8Array)
        .digest("hex"),
    );
  const ofPostgres = await query(database, sql, [FIRST_VALUES]);
  expect(hashes(ofPostgres)).toEqual(hashes(ofSqlite));
  expect(ofSqlite.length).toBeGreaterThan(0);
});

test("after a purge no file has a vector of deleted text", async () => {
  const place = mkdtempSync(join(folder, "purge-"));
  const address = join(place, "store.db");
  const [deleted = "", kept = ""] = TEXTS;
  {
    await using engine = await open(address, { embedder });
    const [id = ""] = await fill(engine);
    await engine.embedStored();
    await engine.deleteSession(id);
  }
  expect([filesWith(place, deleted), filesWith(place, kept)]).toEqual([
    ["store.db-index"],
    ["store.db-index"],
  ]);
  const ran = await callCli(["doctor", "--purge", "--db", address], { cwd: place });
  expect(ran.code, ran.stderr).toBe(0);
  expect(filesWith(place, deleted)).toEqual([]);
  expect(filesWith(place, kept)).toEqual(["store.db-index"]);
});

/** Files that have the int8 values of the vector of `text`. */
function filesWith(place: string, text: string): string[] {
  const { values } = quantize(Float32Array.from(vectorOf(text)));
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.length);
  return readdirSync(place).filter((file) => readFileSync(join(place, file)).includes(bytes));
}

test("embedding resumes with the missing vectors after a kill", async () => {
  const address = join(folder, "killed.db");
  const count = 1_600;
  {
    await using engine = await open(address, { durability: "process" });
    for (let i = 0; i < count; i += 100) {
      const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
      const messages = Array.from({ length: 100 }, (_, j) => ({
        role: j % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: `This is message number ${i + j}.`,
      }));
      await session.append(messages);
    }
  }
  const env = { BACKSCROLL_EMBED_URL: server.url, BACKSCROLL_EMBED_MODEL: "bag" };
  const sent = () => server.requests.flatMap(({ input }) => input).filter(isMessage);
  server.clear();
  // The process stores a batch of about 1,000 pieces; the next batch gets no answer.
  server.stallAfter(1_200);
  const args = [join(ROOT, "bin/backscroll.js"), "embed", "--yes", "--db", address];
  const child = spawn(process.execPath, args, { env: environmentOf(env), stdio: "ignore" });
  const exit = once(child, "exit");
  await expect.poll(() => sent().length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(1_150);
  child.kill("SIGKILL");
  await exit;
  const before = await vectorsIn(address);
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(count);

  // The dead process's lease has expired.
  {
    using db = new DatabaseSync(address);
    db.exec("UPDATE leases SET expires_at = 0 WHERE name LIKE 'embed:%'");
  }
  server.clear();
  const ran = await callCli(["embed", "--yes", "--db", address], { env });
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toContain("nothing is left");
  expect(new Set(sent()).size).toBe(count - before);
  expect(await vectorsIn(address)).toBe(count);
});

function isMessage(text: string): boolean {
  return text.startsWith("This is message");
}

async function vectorsIn(address: string): Promise<number> {
  await using engine = await open(address, { readOnly: true });
  return (await engine.indexStatus()).vectors?.vectors ?? 0;
}

test("without an embedder scores are unchanged to the last digit, and nothing is loaded", async () => {
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: { Module: () => object } };
  const module = vi.spyOn(wasm, "Module");
  await using plain = await open(":memory:", { inThread: true });
  await using meant = await open(":memory:", { inThread: true, embedder, embedDeadlineMs: 60_000 });
  await fill(plain);
  const alone = await answers(plain);
  expect(module).not.toHaveBeenCalled();
  expect(
    alone.flatMap(({ hits }) => hits).every(({ similarity }) => similarity === undefined),
  ).toBe(true);
  await fill(meant);
  await meant.embedStored();
  expect(await answers(meant, { meaning: 0 })).toEqual(alone);
  expect(module).not.toHaveBeenCalled();
  expect(await answers(meant)).not.toEqual(alone);
  expect(module).toHaveBeenCalled();
  module.mockRestore();
});
