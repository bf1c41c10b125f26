/**
 * A long session is deleted in transactions of 5,000 entries. Between them, and after a failure, the
 * session is invisible, and the next call resumes the deletion.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type Engine, type MessageInput, open, type TenantEngine } from "../src/index.ts";
import { MAX_BATCH_ENTRIES, MAX_DELETED_ENTRIES } from "../src/model/limits.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase, query } from "./support/postgres.ts";
import { repeats } from "./support/repeats.ts";

/** Interrupted deletions of one session, each after another transaction. */
const CUTS = repeats(1, 2);
const LENGTH = CUTS * MAX_DELETED_ENTRIES + 1_000;
const LARGE = "payload ".repeat(4_000);

/** Direct access to the database. */
interface Database {
  readonly address: string;
  count(from: string): Promise<number>;
  /** Fault injection: deletions of entries above this sequence fail. */
  failBehind(sequence: number): Promise<void>;
  work(): Promise<void>;
}

async function onSqlite(): Promise<Database> {
  const address = join(createFolder(), "long.db");
  const run = (sql: string) => {
    const db = new DatabaseSync(address);
    try {
      return db.prepare(sql).get();
    } finally {
      db.close();
    }
  };
  const work = async () => void run("DROP TRIGGER IF EXISTS cut");
  return {
    address,
    work,
    count: async (from) => Number(run(`SELECT count(*) AS count FROM ${from}`)?.["count"]),
    async failBehind(sequence) {
      await work();
      run(`CREATE TRIGGER cut BEFORE DELETE ON entries WHEN OLD.sequence > ${sequence}
        BEGIN SELECT raise(ABORT, 'cut off'); END`);
    },
  };
}

async function onPostgres(): Promise<Database> {
  const address = await createDatabase();
  const work = async () => void (await query(address, "DROP TRIGGER IF EXISTS cut ON entries"));
  return {
    address,
    work,
    async count(from) {
      const [row] = await query(address, `SELECT count(*) AS count FROM ${from}`);
      return Number(row?.["count"]);
    },
    async failBehind(sequence) {
      await work();
      await query(
        address,
        `CREATE OR REPLACE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'cut off'; END $$;
         CREATE TRIGGER cut BEFORE DELETE ON entries FOR EACH ROW
           WHEN (OLD.sequence > ${sequence}) EXECUTE FUNCTION cut()`,
      );
    },
  };
}

/** Gives the id of its last message. */
async function fill(tenant: TenantEngine, id: string, messages: number): Promise<string> {
  const session = await tenant.createSession({ id, agent: "coder", createdBy: "ana" });
  await session.addFacts([{ subject: "ana", predicate: "likes", object: "okapis" }]);
  let last = "";
  for (let from = 0; from < messages; from += MAX_BATCH_ENTRIES) {
    const batch = Array.from(
      { length: Math.min(MAX_BATCH_ENTRIES, messages - from) },
      (_, n): MessageInput => ({ role: "user", content: `okapi ${id} ${from + n}` }),
    );
    const shared: MessageInput = { role: "user", content: LARGE };
    const [first, ...rest] = batch;
    const appended = await session.append(first === undefined ? [] : [shared, ...rest], {
      idempotencyKey: `batch ${from}`,
    });
    last = appended.at(-1)?.id ?? last;
  }
  return last;
}

async function feedOf(tenant: TenantEngine): Promise<string[]> {
  const hashes: string[] = [];
  let page = await tenant.listChanges({ limit: 500 });
  while (page.changes.length > 0) {
    hashes.push(...page.changes.map(({ hash, sessionId }) => `${hash} ${sessionId}`));
    page = await tenant.listChanges({ limit: 500, after: page.next });
  }
  return hashes;
}

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
] as const)("on %s", (_, start) => {
  const openEngine = (address: string): Promise<Engine> =>
    open(address, { inThread: true, indexing: { flushAt: 0 } });

  test("an interrupted deletion is never visible, and the next one resumes it", async () => {
    const database = await start();
    const { address, count } = database;
    const left = () => count("entries WHERE tenant = 2 AND session = 2");
    let last: string;
    let feed: string[];
    {
      await using engine = await openEngine(address);
      await fill(engine.forTenant("other"), "long", 3);
      const acme = engine.forTenant("acme");
      await fill(acme, "short", 3);
      last = await fill(acme, "long", LENGTH);
      feed = await feedOf(acme);
      expect(feed.length).toBeGreaterThan(LENGTH);

      await database.failBehind(MAX_DELETED_ENTRIES);
      await expect(acme.deleteSession("long")).rejects.toThrow(/cut off/);
      expect(await left()).toBe(LENGTH - MAX_DELETED_ENTRIES);
    }
    {
      await using engine = await openEngine(address);
      const acme = engine.forTenant("acme");
      const notFound = { code: "session_not_found" };
      const long = acme.session("long");
      await expect(acme.getSessionMeta("long")).rejects.toMatchObject(notFound);
      await expect(long.history()).rejects.toMatchObject(notFound);
      await expect(long.listEntries()).rejects.toMatchObject(notFound);
      await expect(long.append({ role: "user", content: "more" })).rejects.toMatchObject(notFound);
      const again = { idempotencyKey: "batch 0" };
      await expect(long.append({ role: "user", content: "more" }, again)).rejects.toMatchObject(
        notFound,
      );
      await expect(acme.getEntry(last)).rejects.toMatchObject({ code: "entry_not_found" });
      const { sessions } = await acme.listSessions();
      expect(sessions.map(({ id }) => id)).toEqual(["short"]);
      expect(await acme.listFacts()).toHaveLength(1);
      const { hits } = await acme.searchSessions("okapi");
      expect(hits.map(({ sessionId }) => sessionId)).toEqual(["short"]);
      expect(await acme.findTombstone("long")).toMatchObject({ entryCount: LENGTH });
      const { tenants } = await engine.status();
      expect(tenants.find(({ tenant }) => tenant === "acme")).toMatchObject({
        sessions: 1,
        entries: 3,
      });
      const now = await feedOf(acme);
      expect(now).toHaveLength(feed.length + 1);
      expect(now.slice(0, feed.length)).toEqual(feed);
      expect(await engine.verify()).toMatchObject({ ok: true });

      for (let cut = 2; cut <= CUTS; cut++) {
        await database.failBehind(cut * MAX_DELETED_ENTRIES);
        await expect(acme.deleteSession("long")).rejects.toThrow(/cut off/);
        expect(await left()).toBe(LENGTH - cut * MAX_DELETED_ENTRIES);
      }

      await database.work();
      // The id can be reused once the deletion is complete.
      await fill(acme, "long", 3);
      expect(await left()).toBe(0);
      expect(await count("sessions WHERE tenant = 2")).toBe(2);
      expect(await count("blobs WHERE tenant = 2")).toBe(1);
      expect((await feedOf(acme)).slice(0, now.length)).toEqual(now);
      expect(await engine.verify()).toMatchObject({ ok: true });
    }
    {
      await using engine = await openEngine(address);
      const acme = engine.forTenant("acme");
      await fill(acme, "longer", MAX_DELETED_ENTRIES + 1);
      await database.failBehind(MAX_DELETED_ENTRIES);
      await expect(engine.deleteTenant("acme")).rejects.toThrow(/cut off/);
      expect(await count("entries WHERE tenant = 2 AND session = 4")).toBe(1);
      await database.work();
      await engine.deleteTenant("acme");
      for (const table of ["sessions", "session_state", "entries", "chains", "blobs", "facts"]) {
        expect([table, await count(`${table} WHERE tenant = 2`)]).toEqual([table, 0]);
      }
      expect(await engine.verify()).toMatchObject({ ok: true });
      expect(await engine.forTenant("other").listFacts()).toHaveLength(1);
    }
  });
});
