/** Stores that releases have made open with this version, give the same answers, and verify. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { type Engine, open, restore } from "../../src/index.ts";
import { createFolder } from "../support/folder.ts";
import { createEmptyDatabase } from "../support/postgres.ts";
import { readAnswers } from "./read-answers.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const RELEASES = readdirSync(FIXTURES).filter((name) => name.startsWith("release-"));

/** A store in the words of its maker: its address, and the answers that it gave. */
type Kept = readonly [name: string, answers: string, unpack: (release: string) => Promise<string>];

const KEPT: readonly Kept[] = [
  ["a SQLite store", "sqlite.json", unpackSqlite],
  ["a PostgreSQL dump", "postgres.json", unpackPostgres],
  ["a backup, restored to SQLite", "postgres.json", unpackBackup],
];

test("the stores of 0.1.0 are kept", () => {
  expect(RELEASES).toContain("release-0.1.0");
});

describe.each(RELEASES)("%s", (release) => {
  test.for(KEPT)("%s gives the answers of its release, verifies, and goes on", async (kept) => {
    const [, file, unpack] = kept;
    const { token, answers } = JSON.parse(unzip(release, file).toString()) as {
      readonly token: string;
      readonly answers: unknown;
    };
    const address = await unpack(release);
    {
      await using engine = await open(address, { inThread: true });
      await engine.maintainIndex("flush");
      expect(await readAnswers(engine)).toEqual(answers);
      expect(await engine.verify()).toMatchObject({ ok: true, problemCount: 0 });
      expect(await engine.authenticate(token)).toMatchObject({ tenant: "default", scope: "write" });
      const session = await engine.getSession("chat-1");
      await session.append({ role: "user", actor: "ana", content: "Does the saxifrage go on?" });
      await engine.maintainIndex("merge");
    }
    await using again = await open(address, { inThread: true });
    const { hits } = await again.searchSessions("saxifrage");
    expect(hits.map(({ sessionId }) => sessionId)).toEqual(["chat-1"]);
    expect(await again.verify()).toMatchObject({ ok: true });
  });

  test("the SQLite store is indexed anew by itself, with the lines that calls change", async () => {
    const address = await unpackSqlite(release);
    const line = "export const saxifrage = 'in an edit';";
    const call = { type: "tool_use", id: "t1", name: "Write" } as const;
    const input = { file_path: "/srv/shop/saxifrage.ts", content: line };
    const patient = { timeout: 30_000 };
    {
      await using engine = await open(address);
      expect(await sessionsWith(engine, line)).toEqual([true, []]);
      await expect.poll(() => sessionsWith(engine, line), patient).toEqual([false, []]);
      // The calls of the release change no line: one is added, and indexed without.
      const session = await engine.getSession("chat-1");
      await session.append({ role: "assistant", actor: "coder", content: [{ ...call, input }] });
      await engine.setIndexing({ tools: "names" });
      await engine.maintainIndex("flush");
      expect(await sessionsWith(engine, line)).toEqual([true, []]);
      await engine.setIndexing({ tools: "all" });
    }
    await using engine = await open(address);
    await expect.poll(() => sessionsWith(engine, line), patient).toEqual([false, ["chat-1"]]);
  });

  test("the SQLite store is read without being changed by a read-only program", async () => {
    const address = await unpackSqlite(release);
    const before = readFileSync(address);
    {
      await using engine = await open(address, { readOnly: true });
      const { answers } = JSON.parse(unzip(release, "sqlite.json").toString());
      expect(await readAnswers(engine)).toEqual(answers);
    }
    expect(readFileSync(address).equals(before)).toBe(true);
  });
});

/** Whether some of the store is not indexed for it, and the sessions that added a line. */
async function sessionsWith(engine: Engine, text: string): Promise<[boolean, unknown]> {
  const { sessions, edits, found, indexing } = await engine.findLines([{ kind: "added", text }]);
  return [indexing, found[0]?.map((edit) => sessions[edits[edit]?.session ?? -1])];
}

function unzip(release: string, file: string): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, release, `${file}.gz`)));
}

async function unpackSqlite(release: string): Promise<string> {
  const address = join(createFolder(), "store.db");
  for (const end of ["", "-index"]) {
    writeFileSync(`${address}${end}`, unzip(release, `store.db${end}`));
  }
  return address;
}

async function unpackPostgres(release: string): Promise<string> {
  const address = await createEmptyDatabase();
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(unzip(release, "postgres.sql").toString());
  await client.end();
  return address;
}

async function unpackBackup(release: string): Promise<string> {
  const folder = createFolder();
  const file = join(folder, "backup.db");
  writeFileSync(file, unzip(release, "backup.db"));
  const address = join(folder, "restored.db");
  await restore(file, address);
  return address;
}
