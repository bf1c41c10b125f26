import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { textOf } from "../../../model/block.ts";
import { type OpenOptions, open } from "../../../open.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  file = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a loop of awaited calls yields to the event loop", () => {
  async function check(address: string, options: OpenOptions): Promise<void> {
    await using engine = await open(address, options);
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 10);
    // A loop that starves the timer would make all of these calls.
    let calls = 0;
    for (; !fired && calls < 100_000; calls++) {
      await session.append({ role: "user", content: "x" });
    }
    expect(calls).toBeLessThan(100_000);
  }

  test("on threads", () => check(file, {}));
  test("on threads, without a sync", () => check(file, { durability: "process" }));
  test("on the caller's thread", () => check(file, { inThread: true, durability: "process" }));
  test("in memory", () => check(":memory:", {}));
});

test("unawaited appends are stored in call order", async () => {
  await using engine = await open(file);
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const large = "y".repeat(200_000);
  const texts = Array.from({ length: 60 }, (_, i) => `${i} ${i % 7 === 3 ? large : ""}`);
  await Promise.all(texts.map((content) => session.append({ role: "user", content })));
  const { messages } = await session.listMessages({ limit: 100 });
  expect(messages.map((message) => textOf(message.blocks))).toEqual(texts);
});

test("a deleted write-ahead log is recreated", async () => {
  const first = await open(file);
  const { id } = await first.createSession({ agent: "coder", createdBy: "ana" });
  await first.close();
  const raw = new DatabaseSync(file);
  raw.exec("PRAGMA journal_mode = DELETE");
  raw.close();
  await using engine = await open(file);
  const session = await engine.getSession(id);
  await session.append({ role: "user", content: "one" });
  await session.append({ role: "user", content: "two" });
  expect((await session.meta()).messageCount).toBe(2);
});

test("closing waits for writes that are queued for a lock", async () => {
  const engine = await open(file);
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const appends = Array.from({ length: 20 }, (_, i) =>
    session.append({ role: "user", content: String(i) }),
  );
  const closed = engine.close();
  setTimeout(() => {
    other.exec("ROLLBACK");
    other.close();
  }, 50);
  expect(await Promise.all(appends)).toHaveLength(20);
  await closed;
});
