/** Many processes on one store: no write is lost or repeated, and none fails with `store_busy`. */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Change, type Engine, type Entry, open, textOf } from "../src/index.ts";
import type { AppendWork } from "./support/append-worker.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import type { OpenedStore, OpenRace } from "./support/open-racer.ts";
import { createEmptyDatabase } from "./support/postgres.ts";
import { repeats } from "./support/repeats.ts";

const PROCESSES = repeats(3, 8);

/** How many appends each process makes, to the shared session and to its own. */
const BACKENDS: readonly [string, number, () => Promise<string>][] = [
  ["SQLite", repeats(12, 500), () => Promise.resolve(join(createFolder(), "concurrency.db"))],
  ["PostgreSQL", repeats(8, 250), createEmptyDatabase],
];

describe.each(BACKENDS)("on %s", (_, appends, newAddress) => {
  test("many processes append to one session and to their own", async () => {
    const address = await newAddress();
    await using engine = await open(address);
    const names = Array.from({ length: PROCESSES }, (_, i) => `writer-${i}`);
    for (const id of ["shared", ...names]) {
      await engine.createSession({ id, agent: "test", createdBy: "test" });
    }
    const workers = names.map((name) => {
      const child = new Child("./append-worker.ts");
      const sessions = ["shared", name];
      child.tell({ address, name, sessions, count: appends, atOnce: 4 } satisfies AppendWork);
      return child;
    });
    for (const worker of workers) {
      await worker.succeed();
      expect(worker.said()).toEqual([{ appended: 2 * appends }]);
    }

    await checkOneChain(engine, "shared", PROCESSES * appends);
    expect((await engine.getSessionMeta("shared")).participants.toSorted()).toEqual(names);
    for (const name of names) await checkOneChain(engine, name, appends);
    const report = await engine.verify();
    expect(report.problems).toEqual([]);
    expect(report.entries).toBe(2 * PROCESSES * appends);
    const status = await engine.tenantStatus();
    expect(status?.messages).toBe(2 * PROCESSES * appends);
    expect(status?.feedPosition).toBe(2 * PROCESSES * appends + PROCESSES + 1);
  });

  test("a subscriber sees each change of another process once, also over a reconnect", async () => {
    const address = await newAddress();
    await using engine = await open(address);
    await engine.createSession({ id: "a", agent: "test", createdBy: "test" });
    await engine.createSession({ id: "b", agent: "test", createdBy: "test" });
    const { next: start } = await engine.listChanges();
    const count = repeats(50, 200);
    const worker = new Child("./append-worker.ts");
    const everything = follow(engine, { after: start, total: 2 * count, reconnectEvery: 37 });
    const oneSession = follow(engine, {
      after: start,
      session: "b",
      total: count,
      reconnectEvery: 50,
    });
    const work = { address, name: "w", sessions: ["a", "b"], count, atOnce: 3 };
    worker.tell(work satisfies AppendWork);
    await worker.succeed();

    const seen = await everything;
    expect(seen.map((change) => change.position)).toEqual(seen.map((_, i) => i + 3));
    expect(new Set(seen.map((change) => change.entryId)).size).toBe(2 * count);
    const ofSession = await oneSession;
    const expected = seen.filter((change) => change.sessionId === "b");
    expect(ofSession).toEqual(expected);
    // Feed order is the order of sequences.
    const entries = await readTree(engine, "b");
    expect(ofSession.map((change) => change.entryId)).toEqual(entries.map((entry) => entry.id));
  });

  test("several processes may create and migrate the same new store", async () => {
    const addresses = await Promise.all(Array.from({ length: repeats(3, 6) }, newAddress));
    const names = ["p1", "p2", "p3", "p4", "p5"].slice(0, repeats(3, 5));
    // Synchronised: late enough for all processes to run, and far enough apart for all to be ready again.
    const start = Date.now() + 2_500;
    const races = addresses.map((address, i) => ({ address, at: start + i * 400 }));
    const children = names.map((name) => {
      const child = new Child("./open-racer.ts");
      child.tell({ name, races } satisfies OpenRace);
      return child;
    });
    for (const child of children) await child.succeed();
    for (const [i, address] of addresses.entries()) {
      const opened = children.map((child) => child.said<OpenedStore>()[i]);
      expect(opened.map((store) => store?.address)).toEqual(names.map(() => address));
      expect(new Set(opened.map((store) => store?.epoch)).size).toBe(1);
      await using engine = await open(address, { inThread: true, create: false });
      const { sessions } = await engine.listSessions();
      expect(sessions.map((session) => session.id).sort()).toEqual(names);
      expect((await engine.verify()).problems).toEqual([]);
    }
  });
});

/** Every message follows the previous one; one sent after an acknowledgement is later. */
async function checkOneChain(engine: Engine, sessionId: string, count: number): Promise<void> {
  const entries = await readTree(engine, sessionId);
  expect(entries.length).toBe(count);
  expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, i) => i + 1));
  expect(entries.map((entry) => entry.parentId)).toEqual([
    null,
    ...entries.slice(0, -1).map((entry) => entry.id),
  ]);
  expect(entries.map((entry) => entry.index)).toEqual(entries.map((_, i) => i));
  const meta = await engine.getSessionMeta(sessionId);
  expect(meta.messageCount).toBe(count);
  expect(meta.leaf).toBe(entries.at(-1)?.id);
  expect(new Set(entries.map((entry) => textOf(entry.blocks))).size).toBe(count);
  const sent = entries.map((entry) => textOf(entry.blocks).split(" "));
  const lanes = Map.groupBy(sent, ([writer, lane]) => `${writer} ${lane}`);
  for (const lane of lanes.values()) {
    const numbers = lane.map(([, , n]) => Number(n));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

interface FollowInput {
  readonly after: string;
  readonly session?: string;
  readonly total: number;
  readonly reconnectEvery: number;
}

/** Follows the feed, and restarts with the last cursor after every few changes. */
async function follow(engine: Engine, input: FollowInput): Promise<Change[]> {
  const seen: Change[] = [];
  let after = input.after;
  while (seen.length < input.total) {
    let sinceConnect = 0;
    const { session } = input;
    for await (const change of engine.subscribe({
      after,
      ...(session === undefined ? {} : { session }),
    })) {
      seen.push(change);
      after = change.cursor;
      if (++sinceConnect === input.reconnectEvery || seen.length === input.total) break;
    }
  }
  return seen;
}

async function readTree(engine: Engine, sessionId: string): Promise<Entry[]> {
  const session = await engine.getSession(sessionId);
  const entries: Entry[] = [];
  for (let after: string | undefined; ; ) {
    const page = await session.listEntries({
      tree: true,
      limit: 500,
      ...(after === undefined ? {} : { after }),
    });
    entries.push(...page.entries);
    if (page.next === undefined) return entries;
    after = page.next;
  }
}
