import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Change } from "../model/change.ts";
import { open, openStore } from "../open.ts";
import { Engine } from "./engine.ts";
import type { SessionHandle } from "./session-handle.ts";
import type { SubscribeInput } from "./subscribe.ts";
import type { TenantEngine } from "./tenant-engine.ts";

let engine: Engine;
let session: SessionHandle;

beforeEach(async () => {
  engine = await open(":memory:");
  session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
});
afterEach(() => engine.close());

function say(text: string, to = session): Promise<unknown> {
  return to.append({ role: "user", content: text });
}

/** The first `count` changes of a subscription. */
async function take(
  count: number,
  input: SubscribeInput = {},
  from: TenantEngine = engine,
): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const change of from.subscribe(input)) {
    changes.push(change);
    if (changes.length === count) break;
  }
  return changes;
}

/**
 * Starts a subscription, and resolves once it waits. Its clock stands still, so only a wake-up can
 * end the wait.
 */
async function untilWaiting(
  start: () => Promise<Change[]>,
): Promise<{ changes: Promise<Change[]> }> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const changes = start();
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
    return { changes };
  } finally {
    vi.useRealTimers();
  }
}

function positions(changes: readonly Change[]): number[] {
  return changes.map((change) => change.position);
}

describe("subscribe", () => {
  test("subscribers at the same position share the reads of a change", async () => {
    const store = await openStore(":memory:");
    onTestFinished(() => store.close());
    const list = vi.spyOn(store, "listChanges");
    const busy = new Engine(store);
    const s = await busy.createSession({ agent: "test", createdBy: "test" });
    const many = Array.from({ length: 50 }, () => busy.subscribe());
    const first = many.map((changes) => changes.next());
    // All wait once no read has come for three looks: one that has not begun reads by itself.
    const counts: number[] = [];
    await expect
      .poll(() => {
        counts.push(list.mock.calls.length);
        return new Set(counts.slice(-3)).size === 1 && counts.length > 3;
      })
      .toBe(true);
    const before = list.mock.calls.length;
    await s.append({ role: "user", content: "for all" });
    const heard = await Promise.all(first);
    expect(new Set(heard.map(({ value }) => value?.entryId)).size).toBe(1);
    expect(list.mock.calls.length - before).toBeLessThan(10);
    await Promise.all(many.map((changes) => changes.return()));
  });

  test("gives changes from now on, or all from the start", async () => {
    await say("before");
    const now = await untilWaiting(() => take(1));
    await say("after");
    expect(positions(await now.changes)).toEqual([3]);
    expect(positions(await take(3, { after: "start" }))).toEqual([1, 2, 3]);
  });

  test("resumes after a cursor, without gap or repeat", async () => {
    for (let i = 0; i < 5; i++) await say(String(i));
    const seen: number[] = [];
    let after = "start";
    while (seen.length < 6) {
      const [change] = await take(1, { after });
      seen.push(change?.position ?? 0);
      after = change?.cursor ?? "";
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("spans pages, and continues with new changes", async () => {
    for (let i = 0; i < 12; i++) {
      await session.append(
        Array.from({ length: 100 }, (_, n) => ({ role: "user" as const, content: `${n}` })),
      );
    }
    const all = take(1_206, { after: "start" });
    for (let i = 0; i < 5; i++) await say("more");
    expect(positions(await all)).toEqual(Array.from({ length: 1_206 }, (_, i) => i + 1));
  });

  test("of one session skips other sessions, and so does its cursor", async () => {
    const other = await engine.createSession({ agent: "test", createdBy: "test" });
    for (let i = 0; i < 3; i++) {
      await say("a");
      await say("b", other);
    }
    const changes = await take(4, { session: "s", after: "start" });
    expect(changes.every((change) => change.sessionId === "s")).toBe(true);
    expect(positions(changes)).toEqual([1, 3, 5, 7]);
    await say("c");
    expect(positions(await take(1, { session: "s", after: changes.at(-1)?.cursor ?? "" }))).toEqual(
      [9],
    );
  });

  test("sees nothing of another tenant", async () => {
    const other = engine.forTenant("other");
    const theirs = await other.createSession({ agent: "test", createdBy: "test" });
    await say("ours");
    await say("theirs", theirs);
    const changes = await take(2, { after: "start" }, other);
    expect(changes.map((change) => change.sessionId)).toEqual([theirs.id, theirs.id]);
    expect(positions(changes)).toEqual([1, 2]);
  });

  test("ends at once when its signal aborts, also while it waits", async () => {
    const controller = new AbortController();
    const { changes } = await untilWaiting(() => take(1, { signal: controller.signal }));
    controller.abort();
    expect(await changes).toEqual([]);
    expect(await take(1, { after: "start", signal: AbortSignal.abort() })).toEqual([]);
  });

  test("ends when the store is closed", async () => {
    const waiting = take(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    await engine.close();
    expect(await waiting).toEqual([]);
  });

  test("gives all subscribers the same order", async () => {
    const subscribers = [1, 2, 3].map(() => take(20, { after: "start" }));
    await Promise.all(Array.from({ length: 30 }, (_, i) => say(String(i))));
    const [first, ...others] = await Promise.all(subscribers);
    for (const other of others) expect(other).toEqual(first);
  });
});

describe("cursors of the feed", () => {
  test("of another epoch of the store, or from its future, have expired", async () => {
    await say("a");
    const { next } = await engine.listChanges();
    await using other = await open(":memory:");
    await expect(take(1, { after: next }, other)).rejects.toMatchObject({ code: "cursor_expired" });
    const future = engine.listChanges({ after: next.replace(".2.", ".99.") });
    await expect(future).rejects.toMatchObject({ code: "cursor_expired" });
  });

  test("of another tenant have expired, also where no feed has begun", async () => {
    const [theirs, empty] = [engine.forTenant("theirs"), engine.forTenant("empty")];
    await theirs.createSession({ id: "s", agent: "test", createdBy: "test" });
    const { next } = await theirs.listChanges();
    for (const after of [next, (await empty.listChanges()).next]) {
      await expect(engine.listChanges({ after })).rejects.toMatchObject({ code: "cursor_expired" });
      await expect(take(1, { after })).rejects.toMatchObject({ code: "cursor_expired" });
    }
    expect(await theirs.listChanges({ after: next })).toMatchObject({ changes: [], next });
  });

  test("of a copy expire where the copy has diverged", async () => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-copy-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [path, copy] = [join(folder, "a.db"), join(folder, "b.db")];
    {
      await using first = await open(path, { inThread: true });
      await first.createSession({ id: "s", agent: "test", createdBy: "test" });
    }
    copyFileSync(path, copy);
    await using ours = await open(path, { inThread: true });
    await using theirs = await open(copy, { inThread: true });
    const shared = (await ours.listChanges()).next;
    for (const each of [ours, theirs]) await say("diverged", await each.getSession("s"));
    expect((await theirs.listChanges({ after: shared })).changes).toHaveLength(1);
    const { next } = await ours.listChanges();
    await expect(theirs.listChanges({ after: next })).rejects.toMatchObject({
      code: "cursor_expired",
      message: expect.stringContaining("another copy"),
    });
    expect(await ours.listChanges({ after: next })).toMatchObject({ end: true, next });
  });

  test("of an older version have expired, and say so", async () => {
    const { epoch } = await engine.status();
    await expect(engine.listChanges({ after: `${epoch}.1` })).rejects.toMatchObject({
      code: "cursor_expired",
      message: expect.stringContaining("older version"),
    });
  });

  test("of a page that a filter left empty continue after the scanned changes", async () => {
    for (let i = 0; i < 3; i++) await say(String(i));
    const page = await engine.listChanges({ session: "none", limit: 2 });
    expect(page).toMatchObject({ changes: [], end: true });
    await say("later");
    expect(positions((await engine.listChanges({ after: page.next })).changes)).toEqual([5]);
  });

  test("that were never issued are refused", async () => {
    const { next } = await engine.listChanges();
    const start = next.slice(0, next.lastIndexOf(".1."));
    for (const after of ["", "5", "now", start, `${start}.`, `${start}.-1.${"0".repeat(16)}`]) {
      await expect(take(1, { after })).rejects.toMatchObject({ code: "invalid_cursor" });
      await expect(engine.listChanges({ after })).rejects.toMatchObject({ code: "invalid_cursor" });
    }
  });
});

describe("listChanges", () => {
  test("gives the next cursor and whether it is at the end", async () => {
    for (let i = 0; i < 4; i++) await say(String(i));
    const seen: number[] = [];
    let page = await engine.listChanges({ limit: 2 });
    seen.push(...positions(page.changes));
    while (!page.end) {
      page = await engine.listChanges({ limit: 2, after: page.next });
      seen.push(...positions(page.changes));
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("has ids, kinds and numbers, never content", async () => {
    await session.append({
      role: "assistant",
      content: "a secret",
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3 },
      contextWindow: 200,
    });
    const { changes } = await engine.listChanges();
    expect(JSON.stringify(changes)).not.toContain("secret");
    expect(changes.at(-1)).toMatchObject({
      kind: "context_usage",
      sessionId: "s",
      details: { promptTokens: 13, completionTokens: 5, totalTokens: 18, contextWindow: 200 },
    });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "can be read with any result of a host's token counter: %s",
    async (count) => {
      const tokenCounter = { name: "odd", countText: () => count, countBlock: () => count };
      await using odd = await open(":memory:", { tokenCounter });
      const own = await odd.createSession({ agent: "test", createdBy: "test" });
      await own.append({ role: "assistant", content: "hello", model: "m" });
      const { changes } = await odd.listChanges();
      expect(changes.at(-1)).toMatchObject({
        kind: "context_usage",
        details: { contextTokens: null, estimated: true },
      });
    },
  );
});
