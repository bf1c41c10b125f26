/** Leases between several engines on one database, of both kinds. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { createDatabase, query } from "../../../test/support/postgres.ts";
import type { BackscrollError } from "../../model/errors.ts";
import { open, openStore } from "../../open.ts";
import { openSqliteStore } from "../../store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import type { Engine } from "../engine.ts";
import { holdLease } from "./hold-lease.ts";

/** The number of stored leases, and the last expiry. */
async function leasesIn(address: string): Promise<{ count: number; expiresAt: number }> {
  const sql = "SELECT count(*) AS count, max(expires_at) AS expires_at FROM leases";
  const read = async () => {
    if (/^postgres/.test(address)) return (await query(address, sql))[0];
    const db = new DatabaseSync(address, { readOnly: true });
    try {
      return db.prepare(sql).get();
    } finally {
      db.close();
    }
  };
  const row = await read();
  return { count: Number(row?.["count"]), expiresAt: Number(row?.["expires_at"]) };
}

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", async () => join(createFolder(), "leases.db")],
  ["PostgreSQL", createDatabase],
];

/** Longer than a busy machine delays a renewal. */
const durationMs = 30_000;

/** For cases that wait for a renewal, every third of it. */
const renewedMs = 6_000;

async function opened(address: string): Promise<Engine> {
  const engine = await open(address, { inThread: true });
  onTestFinished(() => engine.close());
  return engine;
}

/** Resolves when `signal` is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

describe.each(BACKENDS)("a lease on %s", (_, newAddress) => {
  test("is taken over at once by a claim with the dead holder's owner", async () => {
    const address = await newAddress();
    const store = await openStore(address);
    onTestFinished(() => store.close());
    // The state that a killed process leaves.
    expect(await store.takeLease("job", "the dead", durationMs)).toBe(true);
    const engine = await opened(address);
    const done: string[] = [];
    const claim = (owner: string) =>
      engine.holdLease("job", { durationMs, patienceMs: 0, owner }, async () => {
        done.push(owner);
      });
    await claim("a stranger");
    await claim("the dead");
    expect(done).toEqual(["the dead"]);
    await claim("a stranger");
    expect(done).toEqual(["the dead", "a stranger"]);
  });

  test("lets one engine work at a time, then the next", async () => {
    const address = await newAddress();
    const engines = [await opened(address), await opened(address), await opened(address)];
    let working = 0;
    let most = 0;
    const done: number[] = [];
    await Promise.all(
      engines.map((engine, i) =>
        // With limited patience it polls four times a second.
        engine.holdLease("job", { durationMs, patienceMs: 600_000 }, async () => {
          most = Math.max(most, ++working);
          await new Promise((resolve) => setTimeout(resolve, 20));
          working--;
          done.push(i);
        }),
      ),
    );
    expect(most).toBe(1);
    expect(done.sort()).toEqual([0, 1, 2]);
  });

  test("of a session is separate, and waiting ends with the patience", async () => {
    const address = await newAddress();
    const [first, second] = [await opened(address), await opened(address)];
    const make = () => first.createSession({ agent: "a", createdBy: "ana" });
    const [one, other] = [await make(), await make()];
    const away = await second.getSession(one.id);
    const done: string[] = [];
    const work = (name: string) => async () => {
      done.push(name);
    };
    await one.holdLease("job", { durationMs: 30_000 }, async () => {
      await away.holdLease("job", { durationMs, patienceMs: 0 }, work("impatient"));
      await away.holdLease("job", { durationMs, patienceMs: 50 }, work("a little patient"));
      await away.holdLease("other job", { durationMs, patienceMs: 0 }, work("another name"));
      await other.holdLease("job", { durationMs, patienceMs: 0 }, work("another session"));
      const namesake = second.forTenant("b");
      const theirs = namesake.session(one.id);
      await theirs.holdLease("job", { durationMs, patienceMs: 0 }, work("another tenant"));
    });
    await away.holdLease("job", { durationMs, patienceMs: 0 }, work("afterwards"));
    expect(done).toEqual(["another name", "another session", "another tenant", "afterwards"]);
  });

  test("is granted in FIFO order within an engine, and only the first claim polls", async () => {
    const address = await newAddress();
    const store = await openStore(address);
    onTestFinished(() => store.close());
    const asking: string[] = [];
    const watched = {
      takeLease: async (...args: Parameters<Store["takeLease"]>) => {
        asking.push(args[1]);
        return store.takeLease(...args);
      },
      dropLease: store.dropLease.bind(store),
    };
    const done: string[] = [];
    const stop = new AbortController();
    const claim = (owner: string, more = {}) =>
      holdLease(
        { store: watched, name: "job", durationMs: 30_000, patienceMs: 60_000, owner, ...more },
        async () => {
          done.push(owner);
          if (owner === "first") await impatient;
        },
      );
    expect(await store.takeLease("job", "elsewhere", 300)).toBe(true);
    const waiting = ["first", "second", "third"].map((owner) => claim(owner));
    const stopped = claim("stopped", { signal: stop.signal });
    const impatient = claim("impatient", { patienceMs: 100 });
    waiting.push(claim("last"));
    stop.abort();
    await Promise.all([...waiting, stopped, impatient]);
    expect(done).toEqual(["first", "second", "third", "last"]);
    expect([...new Set(asking.slice(0, asking.indexOf("second")))]).toEqual(["first"]);
    expect(asking.filter((owner) => owner !== "first")).toEqual(["second", "third", "last"]);
  });

  test("of a dead holder is deleted by a sweep, and a held one is not", async () => {
    const address = await newAddress();
    const engine = await opened(address);
    const store = await openStore(address);
    onTestFinished(() => store.close());
    for (let i = 0; i < 3; i++) await store.takeLease(`dead ${i}`, "somebody", 0);
    await engine.holdLease("job", { durationMs: 30_000 }, async () => {
      expect((await leasesIn(address)).count).toBe(4);
      await engine.sweepAll();
      expect((await leasesIn(address)).count).toBe(1);
    });
    expect((await leasesIn(address)).count).toBe(0);
  });

  test("is renewed as long as the work takes, and released when it is stopped", async () => {
    const address = await newAddress();
    const [first, second] = [await opened(address), await opened(address)];
    const stop = new AbortController();
    let begun: (signal: AbortSignal) => void = () => undefined;
    const working = new Promise<AbortSignal>((resolve) => {
      begun = resolve;
    });
    const options = { durationMs: renewedMs, signal: stop.signal };
    const holding = first.holdLease("job", options, async (signal) => {
      begun(signal);
      await aborted(signal);
      // Interrupted work usually ends by throwing.
      signal.throwIfAborted();
    });
    const signal = await working;
    const { expiresAt } = await leasesIn(address);
    let taken = false;
    const waiting = second.holdLease("job", { durationMs: 300 }, async () => {
      taken = true;
    });
    const renewed = async () => (await leasesIn(address)).expiresAt;
    await expect.poll(renewed, { interval: 100 }).toBeGreaterThan(expiresAt);
    expect([taken, signal.aborted]).toEqual([false, false]);
    stop.abort();
    await holding;
    await waiting;
    expect(taken).toBe(true);
  });

  test("is scoped to its name: two of them do not wait for each other", async () => {
    const engine = await opened(await newAddress());
    await engine.holdLease("outer", { durationMs }, () =>
      engine.holdLease("inner", { durationMs }, async () => undefined),
    );
    let entered = false;
    const stop = new AbortController();
    await engine.holdLease("outer", { durationMs }, async () => {
      const again = engine.holdLease("outer", { durationMs, signal: stop.signal }, async () => {
        entered = true;
      });
      stop.abort();
      await again;
    });
    expect(entered).toBe(false);
  });

  test("rejects with the work's error, and is free then", async () => {
    const engine = await opened(await newAddress());
    const failing = engine.holdLease("job", { durationMs }, async () => {
      throw new Error("broken");
    });
    await expect(failing).rejects.toThrow("broken");
    let done = false;
    await engine.holdLease("job", { durationMs: 60_000 }, async () => {
      done = true;
    });
    expect(done).toBe(true);
  });

  test("aborts the work when the store is closed", async () => {
    const engine = await open(await newAddress());
    let isStopped = false;
    const holding = engine.holdLease("job", { durationMs: 900 }, async (signal) => {
      await engine.close();
      await aborted(signal);
      isStopped = true;
    });
    await expect(holding).rejects.toMatchObject({ code: "store_closed" });
    expect(isStopped).toBe(true);
  });
});

describe("a lost lease", () => {
  const claimed = { name: "job", owner: "me", durationMs: 300 };

  /** A store, and a second connection that locks it or gives its lease to another owner. */
  async function lockable() {
    const path = join(createFolder(), "leases.db");
    const store = await openSqliteStore(path, { inThread: true, busyTimeoutMs: 20 });
    const db = new DatabaseSync(path, { timeout: 10_000 });
    onTestFinished(async () => {
      db.close();
      await store.close();
    });
    return {
      store: store as Store,
      lock: () => db.exec("BEGIN IMMEDIATE"),
      unlock: () => db.exec("ROLLBACK"),
      /** One statement: no renewal can come between release and take-over. */
      steal: () =>
        db
          .prepare("UPDATE leases SET owner = 'somebody else', expires_at = ? WHERE name = 'job'")
          .run(Date.now() + 3_600_000),
      release: () => db.exec("DELETE FROM leases WHERE name = 'job'"),
    };
  }

  test("aborts the work, which starts again once the lease is held again", async () => {
    const { store, steal, release } = await lockable();
    let begun = 0;
    await holdLease({ ...claimed, store }, async (signal) => {
      if (++begun === 2) return;
      steal();
      await aborted(signal);
      release();
    });
    expect(begun).toBe(2);
    expect(await store.takeLease("job", "the next", 1)).toBe(true);
  });

  test("is waited for with fresh patience, however long the work had run", async () => {
    const { store, steal, release } = await lockable();
    let begun = 0;
    await holdLease({ ...claimed, store, patienceMs: 50 }, async (signal) => {
      if (++begun === 2) return;
      steal();
      await aborted(signal);
      await new Promise((resolve) => setTimeout(resolve, 60));
      release();
    });
    expect(begun).toBe(2);
  });

  test("is lost when its time has passed without an answer, and then waited for", async () => {
    const { store, lock, unlock } = await lockable();
    let begun = 0;
    await holdLease({ ...claimed, store }, async (signal) => {
      if (++begun === 2) return;
      lock();
      await aborted(signal);
      setTimeout(unlock, 200);
    });
    expect(begun).toBe(2);
  });

  test("survives one failed renewal", async () => {
    const { store, lock, unlock } = await lockable();
    const asked: string[] = [];
    const take = async (...args: Parameters<Store["takeLease"]>) => {
      const answer = store.takeLease(...args);
      asked.push(await answer.then(String, (error: BackscrollError) => error.code));
      if (asked.at(-1) === "store_busy") unlock();
      return answer;
    };
    const watched = { takeLease: take, dropLease: store.dropLease };
    let begun = 0;
    await holdLease({ ...claimed, durationMs: renewedMs, store: watched }, async (signal) => {
      begun++;
      lock();
      await expect.poll(() => asked.slice(0, 3)).toEqual(["true", "store_busy", "true"]);
      expect(signal.aborted).toBe(false);
    });
    expect(begun).toBe(1);
  });

  test("ends the waiting when the store is closed", async () => {
    const { store } = await lockable();
    await store.close();
    const holding = holdLease({ ...claimed, store }, async () => undefined);
    await expect(holding).rejects.toMatchObject({ code: "store_closed" });
  });

  test("does not hide an error of the work", async () => {
    const { store, steal } = await lockable();
    const failing = holdLease({ ...claimed, store }, async (signal) => {
      steal();
      await aborted(signal);
      throw new Error("half written");
    });
    await expect(failing).rejects.toThrow("half written");
  });
});
