import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import { open, textOf } from "../../src/index.ts";
import { Follower } from "../../src/store/postgres/fleet/follower.ts";
import { ReadRouter } from "../../src/store/postgres/fleet/routed-store.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres-database.ts";
import type { Store } from "../../src/store/store.ts";
import { startNode } from "../server/node.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

/** The standby cancels conflicting reads at once. */
const SETTINGS = { hot_standby_feedback: "off", max_standby_streaming_delay: "0" };

let fleet: Fleet;
/** Writes to the primary and reads there. */
let direct: Engine;
/** Reads on the standby. */
let routed: Engine;

beforeAll(async () => {
  fleet = await startFleet({ settings: SETTINGS });
  direct = await open(fleet.address(0));
  routed = await open(fleet.address(0), { replicas: [fleet.address(1)] });
});

afterAll(async () => {
  await routed?.close();
  await direct?.close();
  await fleet?.[Symbol.asyncDispose]();
});

async function newSession(engine: Engine, title = "a session"): Promise<string> {
  const { id } = await engine.createSession({ agent: "coder", createdBy: "ana", title });
  return id;
}

async function say(engine: Engine, id: string, content: string): Promise<void> {
  await engine.session(id).append({ role: "user", actor: "ana", content });
}

async function textsOf(engine: Engine, id: string): Promise<string[]> {
  return (await engine.session(id).history({ limit: 500 })).map(({ blocks }) => textOf(blocks));
}

/** Pauses WAL replay of the standby until the test ends or `resume` is called. */
async function pauseReplay(): Promise<() => Promise<unknown>> {
  const [written] = await fleet.query(0, "SELECT pg_current_wal_lsn()::text AS lsn");
  const hasAll = `SELECT pg_last_wal_replay_lsn() >= '${String(written?.["lsn"])}'::pg_lsn AS is`;
  await expect.poll(() => fleet.query(1, hasAll)).toEqual([{ is: true }]);
  await fleet.query(1, "SELECT pg_wal_replay_pause()");
  const isPaused = () => fleet.query(1, "SELECT pg_get_wal_replay_pause_state() AS state");
  await expect.poll(isPaused).toEqual([{ state: "paused" }]);
  const resume = () => fleet.query(1, "SELECT pg_wal_replay_resume()");
  onTestFinished(async () => void (await resume()));
  return resume;
}

test("a caller reads its own writes", async () => {
  const id = await newSession(routed);
  for (let i = 0; i < 30; i++) {
    await say(routed, id, `message ${i}`);
    expect((await textsOf(routed, id)).at(-1)).toBe(`message ${i}`);
  }
  const { hits } = await routed.searchSessions("message 29");
  expect(hits.map(({ sessionId }) => sessionId)).toContain(id);
  expect((await routed.listSessions()).sessions.map((session) => session.id)).toContain(id);
  const context = await routed.session(id).buildContext({ tokenBudget: 1_000 });
  expect(JSON.stringify(context.messages)).toContain("message 29");
  expect((await routed.verify()).ok).toBe(true);
});

test("reads run on the follower; missing rows come from the primary", async () => {
  const id = await newSession(routed, "old");
  expect((await routed.getSessionMeta(id)).title).toBe("old");
  const resume = await pauseReplay();
  await direct.session(id).setTitle("new");
  // A write of another node is unknown here: the follower's answer may be stale. A follower that was
  // left out after an error gets reads again with the next probe.
  await expect.poll(async () => (await routed.getSessionMeta(id)).title).toBe("old");
  // Its own writes are visible at once; rows missing on the follower come from the primary.
  await say(routed, id, "an own write");
  expect(await textsOf(routed, id)).toEqual(["an own write"]);
  expect((await routed.getSessionMeta(id)).title).toBe("new");
  const made = await newSession(direct, "made elsewhere");
  expect((await routed.getSessionMeta(made)).title).toBe("made elsewhere");
  await expect.poll(async () => (await routed.status()).followers[0]?.behind).toBeGreaterThan(1);
  const { lagMs = 0 } = (await routed.status()).followers[0] ?? {};
  expect(lagMs).toBeGreaterThan(0);
  await resume();
  await expect.poll(async () => (await routed.status()).followers[0]?.behind).toBe(0);
});

test("a feed on a follower has every change once, in order", async () => {
  const id = await newSession(routed);
  const heard: number[] = [];
  const stop = new AbortController();
  // "Now" of a subscription may be after the next write of another node.
  const { next: after } = await routed.listChanges({ after: "end" });
  const following = (async () => {
    for await (const change of routed.subscribe({ session: id, after, signal: stop.signal })) {
      heard.push(change.position);
    }
  })();
  for (let i = 0; i < 40; i++) await say(i % 2 === 0 ? direct : routed, id, `change ${i}`);
  await expect.poll(() => heard.length).toBeGreaterThanOrEqual(40);
  stop.abort();
  await following;
  const { changes } = await direct.listChanges({ session: id, limit: 500 });
  const appended = changes.filter(({ kind }) => kind === "entry_appended");
  expect(heard).toEqual(appended.map(({ position }) => position));
});

test("a read that the standby cancels is repeated on the primary", async () => {
  await using primary = withDispose(await openPostgresStore(fleet.address(0)));
  const db = new PostgresDatabase(fleet.address(0), {});
  const followerDb = new PostgresDatabase(fleet.address(1), { readOnly: true }, "follower");
  onTestFinished(() => db.close());
  await newSession(direct);
  const failures: unknown[] = [];
  // Holds a snapshot while the primary vacuums rows that it sees.
  const held: Store["listSessions"] = () =>
    followerDb.read("default", async (tx) => {
      await tx.all("SELECT count(*) FROM doomed");
      const remove = async () => {
        await fleet.query(0, "DELETE FROM doomed");
        await fleet.query(0, "VACUUM doomed");
      };
      const sleep = tx.all("SELECT count(*), pg_sleep(50) FROM doomed WHERE n = 1");
      await Promise.all([sleep, remove()]);
      throw new Error("the standby did not cancel the read");
    });
  const standby = await openPostgresStore(fleet.address(1), { readOnly: true });
  const store: Store = {
    ...standby,
    listSessions: (...args) =>
      held(...args).catch((error) => {
        failures.push(error);
        throw error;
      }),
    close: async () => {
      await followerDb.close();
      await standby.close();
    },
  };
  // One transaction: a standby that has the table has the grant, too.
  await fleet.query(
    0,
    "CREATE TABLE doomed AS SELECT generate_series(1, 100) AS n; GRANT SELECT ON doomed TO PUBLIC",
  );
  onTestFinished(async () => void (await fleet.query(0, "DROP TABLE IF EXISTS doomed")));
  const isThere = () => fleet.query(1, "SELECT to_regclass('doomed') IS NOT NULL AS is");
  await expect.poll(isThere).toEqual([{ is: true }]);
  const follower = new Follower("standby", async () => ({ store, db: followerDb }));
  const router = new ReadRouter(primary, db, [follower]);
  onTestFinished(() => router.close());
  await router.look();
  expect(router.status()).toMatchObject([{ isThere: true }]);
  const page = await router.read("default", (from) =>
    from.listSessions("default", {}, { limit: 5 }),
  );
  expect(page.sessions.length).toBeGreaterThan(0);
  expect(failures).toMatchObject([{ details: { sqlstate: "40001" } }]);
});

test("a dead follower is skipped, and used again later", async () => {
  const id = await newSession(routed);
  await fleet.kill(1);
  await say(routed, id, "without a follower");
  expect(await textsOf(routed, id)).toEqual(["without a follower"]);
  await expect.poll(async () => (await routed.status()).followers[0]?.isThere).toBe(false);
  await fleet.start(1);
  await expect.poll(async () => (await routed.status()).followers[0]?.isThere).toBe(true);
  await say(routed, id, "with one again");
  expect(await textsOf(routed, id)).toEqual(["without a follower", "with one again"]);
});

test("a server lists its followers, and a read-only node serves from a standby", async () => {
  const id = await newSession(direct, "served");
  await say(direct, id, "hello");
  const [writer, reader] = await Promise.all([
    startNode(["--db", fleet.address(0), "--replica", fleet.address(1)]),
    startNode(["--db", fleet.address(1), "--follower"]),
  ]);
  onTestFinished(() => {
    writer.child.kill("SIGKILL");
    reader.child.kill("SIGKILL");
  });
  const status = (await (await fetch(`${writer.url}/v1/admin/store`)).json()) as {
    followers: { address: string; is_there: boolean }[];
  };
  const address = fleet.address(1).replace(":backscroll_owner@", "@");
  expect(status.followers).toMatchObject([{ address, is_there: true }]);
  const metrics = await (await fetch(`${writer.url}/metrics`)).text();
  expect(metrics).toContain("\nbackscroll_followers_there 1\n");
  expect(metrics).toMatch(/\nbackscroll_follower_lag_seconds \d/);
  expect(metrics).toMatch(/\nbackscroll_connections [1-9]\d*\n/);
  expect(metrics).toMatch(/\nbackscroll_retries_total \d+\n/);

  const read = async () => (await fetch(`${reader.url}/v1/sessions/${id}/messages`)).status;
  await expect.poll(read).toBe(200);
  const body = JSON.stringify({ messages: [{ role: "user", content: "no" }] });
  const headers = { "content-type": "application/json" };
  const url = `${reader.url}/v1/sessions/${id}/messages`;
  const refused = await fetch(url, { method: "POST", headers, body });
  expect(await refused.json()).toMatchObject({ code: "store_read_only" });

  // From the start: "now" may be after the next append.
  const events = await fetch(`${reader.url}/v1/sessions/${id}/changes?after=start`, {
    headers: { accept: "text/event-stream" },
  });
  await say(direct, id, "live");
  const stream = events.body?.pipeThrough(new TextDecoderStream()) ?? [];
  let text = "";
  for await (const part of stream) {
    text += part;
    if (text.split("event: entry_appended").length > 2) break;
  }
  expect(text.split("event: entry_appended")).toHaveLength(3);
  expect(await reader.stop()).toBe(0);
  expect(await writer.stop()).toBe(0);
  expect([reader.stderr(), writer.stderr()]).toEqual(["", ""]);
});

function withDispose(store: Store): Store & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
