import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createFolder } from "../../../../test/support/folder.ts";
import { textOf } from "../../../model/block.ts";
import { open } from "../../../open.ts";
import type { IndexRequest } from "../../../search/request.ts";
import { engineOn, openStore } from "../../../store-kit/index.ts";
import { Threads } from "./threads.ts";

test("replies that arrive together are settled over several turns of the event loop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  try {
    await using engine = await open(join(folder, "store.db"));
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    let answers = 0;
    let inThisTurn = 0;
    let most = 0;
    const turn = () => {
      most = Math.max(most, inThisTurn);
      inThisTurn = 0;
      if (answers < 500) setImmediate(turn);
    };
    setImmediate(turn);
    // Far more than are settled in one turn; the writer commits up to 256 as a group.
    await Promise.all(
      Array.from({ length: 500 }, async () => {
        await session.append({ role: "user", content: "x" });
        answers++;
        inThisTurn++;
      }),
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(64);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an aborted search releases the thread", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  // An index whose searches end only on abort.
  const module = `data:text/javascript,export const indexCode = {
    createCache() {}, *maintain() {},
    *search(request) { while (!request.isAbandoned()); throw new Error("aborted"); } }`;
  try {
    const indexing = { module, flushAt: 0 };
    await using engine = engineOn(await openStore(join(folder, "store.db"), { indexing }));
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const gone = new AbortController();
    const search = engine.searchSessions("x", { signal: gone.signal });
    // It runs if a later read is still unanswered.
    const read = session.history();
    setTimeout(() => gone.abort(new Error("typed on")), 50);
    await expect(search).rejects.toThrow("typed on");
    // It runs on the same thread, so it would wait forever without the abort.
    expect(await read).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("two searches run at a time, on a second thread that starts when it is needed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  const path = join(folder, "store.db");
  // A search ends once the one that it names has begun.
  const module = `data:text/javascript,import { existsSync, writeFileSync } from "node:fs";
    import { threadId } from "node:worker_threads";
    export const indexCode = { createCache() {}, *maintain() {}, *search({ own, other }) {
      writeFileSync("${folder}/" + own, "");
      while (!existsSync("${folder}/" + other));
      return { threadId };
    } }`;
  await (await open(path)).close();
  const options = { path, durability: "process", readOnly: false, busyTimeoutMs: 1_000 } as const;
  const threads = new Threads(
    { ...options, maxQueue: 10, searchThreads: 2, indexing: { module } },
    (reason) => expect.unreachable(reason),
  );
  try {
    const search = (own: string, other: string) =>
      threads.search("acme", { own, other } as unknown as IndexRequest) as Promise<unknown>;
    const first = await search("a", "a");
    expect(await search("b", "b")).toEqual(first);
    const [third, fourth] = await Promise.all([search("c", "d"), search("d", "c")]);
    expect(third).toEqual(first);
    expect(fourth).not.toEqual(first);
  } finally {
    await threads.close();
    rmSync(folder, { recursive: true });
  }
});

test("the log is reused beside searches without a pause", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  const path = join(folder, "store.db");
  const module = `data:text/javascript,export const indexCode = {
    createCache() {}, *maintain() {}, *search() {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      return { hits: [], notes: [], unreadable: [], lag: 0 };
    } }`;
  try {
    const indexing = { module, flushAt: 0 };
    const options = { searchThread: true, durability: "process", indexing } as const;
    await using engine = engineOn(await openStore(path, options));
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    let isOver = false;
    const searches = ["a", "b", "c", "d"].map(async (tenant) => {
      while (!isOver) await engine.forTenant(tenant).searchSessions("x");
    });
    const text = randomBytes(1024 * 1024).toString("base64");
    for (let i = 0; i < 60; i++) await session.append({ role: "user", content: text + i });
    isOver = true;
    await Promise.all(searches);
    // Of 84 MB written.
    expect(statSync(`${path}-wal`).size).toBeLessThan(50 * 1024 * 1024);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the log is reused once a maintenance step has ended its snapshot", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  const path = join(folder, "store.db");
  try {
    await using engine = await open(path, { indexing: { flushAt: 0 } });
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    // While a reader holds an earlier snapshot, later frames stay in the log.
    const earlier = new DatabaseSync(path, { readOnly: true });
    earlier.exec("BEGIN");
    earlier.prepare("SELECT count(*) FROM entries").get();
    const say = () =>
      session.append({ role: "user", content: randomBytes(2 * 1024 * 1024).toString("base64") });
    for (let i = 0; i < 10; i++) await say();
    earlier.close();
    await engine.maintainIndex("maintain");
    const size = () => statSync(`${path}-wal`).size;
    const before = size();
    expect(before).toBeGreaterThan(16 * 1024 * 1024);
    await say();
    expect(size()).toBe(before);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("concurrent calls run in order, and complete when the store closes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  const path = join(folder, "store.db");
  try {
    const engine = await open(path);
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const appended: Promise<unknown>[] = [];
    for (let i = 0; i < 60; i++) {
      appended.push(session.append({ role: "user", content: String(i) }));
      // In the same turn, after a microtask, and in the next turn.
      if (i % 7 === 0) await Promise.resolve();
      if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await engine.close();
    await Promise.all(appended);
    await using again = await open(path);
    const { messages } = await again.listMessages(session.id, { limit: 100 });
    expect(messages.map(({ blocks }) => textOf(blocks))).toEqual(
      Array.from({ length: 60 }, (_, i) => String(i)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ["was only opened", ""],
  ["was only read", 'await store.searchSessions("lock"); await store.listSessions();'],
])("a store that %s keeps its process alive no longer than its calls", async (_, calls) => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  const program = join(folder, "program.mjs");
  try {
    writeFileSync(
      program,
      `const { open } = await import(process.argv[2]);
      const store = await open(process.argv[3]);
      ${calls}
      console.log("done");`,
    );
    const args = [new URL("../../../open.ts", import.meta.url).href, join(folder, "store.db")];
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
      timeout: 60_000,
    });
    expect(stdout).toBe("done\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const isBuilt = process.env["BACKSCROLL_BUILT"] !== undefined;

test.runIf(isBuilt)("threads of stores in a built run start from the built code", async () => {
  const redirect = await import("../../../../test/support/thread-redirect.ts");
  const before = redirect.redirected;
  await using engine = await open(join(createFolder(), "built.db"));
  await engine.listSessions();
  expect(redirect.redirected).toBe(before + 2);
});
