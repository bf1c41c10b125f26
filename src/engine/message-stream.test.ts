import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { textOf } from "../model/block.ts";
import { MAX_CONTENT_BYTES } from "../model/limits.ts";
import { open } from "../open.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import type { SessionHandle } from "./session-handle.ts";

let engine: Engine;
let session: SessionHandle;

async function start(options: EngineOptions = {}, address = ":memory:"): Promise<void> {
  engine = await open(address, options);
  session = await engine.createSession({ agent: "test", createdBy: "test" });
}

/** The flush interval is so long that only the tests flush. */
beforeEach(() => start({ flushMs: 600_000 }));
afterEach(() => engine.close());

async function storedText(id: string): Promise<string> {
  return textOf((await engine.getEntry(id)).blocks);
}

async function feed(): Promise<string[]> {
  const { changes } = await engine.listChanges({ limit: 500 });
  return changes.map((change) => change.kind).filter((kind) => kind !== "session_created");
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  await expect.poll(condition, { interval: 5 }).toBe(true);
}

describe("writing", () => {
  test("waits for the interval, and then flushes by itself", async () => {
    await engine.close();
    await start({ flushMs: 40 });
    await using message = await session.openMessage({ role: "assistant" });
    const before = performance.now();
    await message.write("hello");
    await until(async () => (await storedText(message.id)) === "hello");
    expect(performance.now() - before).toBeGreaterThanOrEqual(38);
  });

  test("flushes large chunks at once, and on request", async () => {
    await using message = await session.openMessage({ role: "assistant" });
    await message.write("a");
    expect(await storedText(message.id)).toBe("");
    await message.flush();
    expect(await storedText(message.id)).toBe("a");
    const large = "b".repeat(70_000);
    await message.write(large);
    expect(await storedText(message.id)).toBe(`a${large}`);
  });

  test("keeps pieces in order, with whole blocks between them", async () => {
    const message = await session.openMessage({ role: "assistant", model: "m" });
    const call = { type: "tool_use", id: "1", name: "read", input: { path: "a" } };
    await message.write("one ");
    await message.flush();
    await message.write("two");
    await message.write(call);
    await message.write("\ud83d");
    await message.flush();
    await message.write("\ude00");
    const entry = await message.commit();
    expect(entry.blocks).toEqual([
      { type: "text", text: "one two" },
      { type: "tool_use", id: "1", name: "read", input: { path: "a" } },
      { type: "text", text: "😀" },
    ]);
    expect(entry).toMatchObject({ id: message.id, status: "committed", model: "m", index: 0 });
  });

  test("refuses an invalid block, and stays open", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await expect(message.write({ type: "text", text: 5 })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await message.write("fine");
    expect(textOf((await message.commit()).blocks)).toBe("fine");
  });
});

describe("commit", () => {
  test("never overtakes a flush", async () => {
    await engine.close();
    await start({ flushMs: 0 });
    const message = await session.openMessage({ role: "assistant" });
    const pieces = Array.from({ length: 300 }, (_, i) => `${i} `);
    for (const [i, piece] of pieces.entries()) {
      await message.write(piece);
      if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      if (i % 7 === 0) void message.flush();
    }
    const entry = await message.commit();
    expect(textOf(entry.blocks)).toBe(pieces.join(""));
    const kinds = await feed();
    expect(kinds[0]).toBe("message_opened");
    expect(kinds.at(-1)).toBe("entry_appended");
    expect(kinds.slice(1, -1).every((kind) => kind === "message_chunk")).toBe(true);
    expect(kinds.length).toBeGreaterThan(3);
  });

  test("ends the message: later chunks are refused", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await message.write("a");
    await message.commit();
    for (const late of [message.write("b"), message.flush(), message.commit(), message.abort()]) {
      await expect(late).rejects.toMatchObject({ code: "stream_lost" });
    }
    expect(await storedText(message.id)).toBe("a");
  });

  test("of an empty message is refused, and the message stays open", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await expect(message.commit()).rejects.toMatchObject({ code: "invalid_input" });
    await message.write("late");
    expect(textOf((await message.commit()).blocks)).toBe("late");
  });

  test("on a moved leaf is refused, loses nothing, and can be retried", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await message.write("flushed ");
    await message.flush();
    await message.write("waiting");
    await session.append({ role: "user", content: "meanwhile" });
    await expect(message.commit({ expectedLeaf: null })).rejects.toMatchObject({
      code: "stale_leaf",
    });
    expect((await engine.getEntry(message.id)).status).toBe("pending");
    expect(textOf((await message.commit()).blocks)).toBe("flushed waiting");
  });

  test("orders two open messages by their commits", async () => {
    const first = await session.openMessage({ role: "assistant" });
    const second = await session.openMessage({ role: "assistant" });
    await first.write("first");
    await second.write("second");
    const earlier = await second.commit();
    const later = await first.commit();
    expect(earlier.parentId).toBe(null);
    expect(later.parentId).toBe(earlier.id);
    expect((await session.branches()).length).toBe(1);
  });

  test("above the size limit is refused, and an abort keeps the text", async () => {
    const message = await session.openMessage({ role: "assistant" });
    const megabyte = "x".repeat(2 ** 20);
    const count = MAX_CONTENT_BYTES / 2 ** 20 + 1;
    for (let i = 0; i < count; i++) await message.write(megabyte);
    await expect(message.commit()).rejects.toMatchObject({ code: "too_large" });
    const kept = await message.abort("too much");
    expect(textOf(kept.blocks)).toHaveLength(count * 2 ** 20);
    expect(kept).toMatchObject({ status: "aborted", data: { reason: "too much" } });
  });
});

describe("abort and dispose", () => {
  test("keep the text so far, outside the conversation", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await message.write("so far");
    const entry = await message.abort("stopped");
    expect(entry).toMatchObject({ status: "aborted", index: null, data: { reason: "stopped" } });
    expect(textOf(entry.blocks)).toBe("so far");
    expect((await session.meta()).messageCount).toBe(0);
  });

  test("leaving the block aborts an open message", async () => {
    let id: string;
    {
      await using message = await session.openMessage({ role: "assistant" });
      await message.write("unfinished");
      id = message.id;
    }
    expect(await engine.getEntry(id)).toMatchObject({
      status: "aborted",
      data: { reason: "disposed" },
    });
    {
      await using message = await session.openMessage({ role: "assistant" });
      await message.write("finished");
      await message.commit();
      id = message.id;
    }
    expect((await engine.getEntry(id)).status).toBe("committed");
  });
});

describe("the lease", () => {
  test("is renewed while the writer is silent", async () => {
    await engine.close();
    const file = join(createFolder(), "store.db");
    // Renewed every third of it.
    await start({ flushMs: 600_000, leaseMs: 6_000 }, file);
    const message = await session.openMessage({ role: "assistant" });
    const expiry = () => {
      using db = new DatabaseSync(file, { readOnly: true });
      return Number(db.prepare("SELECT max(expires_at) AS at FROM streams").get()?.["at"]);
    };
    const first = expiry();
    await expect.poll(expiry, { interval: 100 }).toBeGreaterThan(first);
    expect((await engine.sweep()).abortedMessages).toEqual([]);
    await message.write("after a long thought");
    expect((await message.commit()).status).toBe("committed");
  });

  test("of a writer that lost its message is reported, and flushed chunks are kept", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await message.write("kept");
    await message.flush();
    await engine.abortMessage(message.id, "by an administrator");
    await message.write(" lost");
    await expect(message.flush()).rejects.toMatchObject({ code: "stream_lost" });
    await expect(message.write("more")).rejects.toMatchObject({ code: "stream_lost" });
    await expect(message.commit()).rejects.toMatchObject({ code: "stream_lost" });
    expect(await storedText(message.id)).toBe("kept");
    expect((await engine.getEntry(message.id)).status).toBe("aborted");
  });

  test("goes to the writer that opens the message again under its key", async () => {
    const input = { role: "assistant", idempotencyKey: "turn-1" } as const;
    const first = await session.openMessage(input);
    await first.write("from the first, ");
    await first.flush();
    const second = await session.openMessage(input);
    expect(second.id).toBe(first.id);
    await first.write("too late");
    await expect(first.commit()).rejects.toMatchObject({ code: "stream_lost" });
    await second.write("from the second");
    const entry = await second.commit();
    expect(textOf(entry.blocks)).toBe("from the first, from the second");
    await expect(
      session.openMessage({ role: "user", idempotencyKey: "turn-1" }),
    ).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  test("is lost with a closed store, which rejects the next flush", async () => {
    const message = await session.openMessage({ role: "assistant" });
    await message.write("a");
    await engine.close();
    // The buffer at the close is stored; this came after it.
    await message.write("b");
    await expect(message.flush()).rejects.toMatchObject({ code: "store_closed" });
  });
});

describe("written chunks", () => {
  test("are stored later when the store is busy", async () => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
    const file = join(folder, "busy.db");
    await using engine = await open(file, { busyTimeoutMs: 250, flushMs: 20 });
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    await message.write("first ");
    await message.flush();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await message.write("second ");
    await expect(message.flush()).rejects.toMatchObject({ code: "store_busy" });
    other.exec("ROLLBACK");
    other.close();
    await message.write("third");
    const entry = await message.commit();
    expect(entry.blocks).toEqual([{ type: "text", text: "first second third" }]);
  });

  test("survive an abort that is refused", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    await message.write("kept");
    await expect(message.abort("")).rejects.toMatchObject({ code: "invalid_input" });
    const entry = await message.abort("enough");
    expect(entry.blocks).toEqual([{ type: "text", text: "kept" }]);
  });

  test("are refused once the commit is in progress", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    await message.write("whole");
    const commit = message.commit();
    await expect(message.write(" and more")).rejects.toMatchObject({ code: "stream_lost" });
    expect((await commit).blocks).toEqual([{ type: "text", text: "whole" }]);
  });

  test("are flushed by closing the engine", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "backscroll-")), "closed.db");
    const engine = await open(file);
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    await message.write("in the buffer");
    await engine.close();
    await using again = await open(file);
    const entry = await again.getEntry(message.id);
    expect(entry.blocks).toEqual([{ type: "text", text: "in the buffer" }]);
  });
});

describe("continuing in another process", () => {
  test("by the lease: another process writes, renews and commits", async () => {
    const opened = await session.openMessage({ role: "assistant" });
    await opened.write("one ");
    await opened.detach();
    const second = await session.continueMessage(opened.id, opened.lease);
    await second.write("two");
    await second.detach();
    expect(await storedText(opened.id)).toBe("one two");
    const third = await session.continueMessage(opened.id, opened.lease);
    await third.renew();
    const entry = await third.commit({ metadata: { part: 3 } });
    expect([entry.status, textOf(entry.blocks)]).toEqual(["committed", "one two"]);
    const late = await session.continueMessage(opened.id, opened.lease);
    await late.write("three");
    await expect(late.detach()).rejects.toMatchObject({ code: "stream_lost" });
  });

  test("a commit whose answer was lost is repeated under its key", async () => {
    const opened = await session.openMessage({ role: "assistant" });
    await opened.detach();
    const commit = async () => {
      const message = await session.continueMessage(opened.id, opened.lease);
      await message.write("once");
      return message.commit({ idempotencyKey: "end" });
    };
    const first = await commit();
    expect(await commit()).toEqual(first);
    expect(textOf(first.blocks)).toBe("once");
  });

  test("needs the lease and the right session", async () => {
    const opened = await session.openMessage({ role: "assistant" });
    const thief = await session.continueMessage(opened.id, "a guess");
    await expect(thief.renew()).rejects.toMatchObject({ code: "stream_lost" });
    const other = await engine.createSession({ agent: "test", createdBy: "test" });
    await expect(other.continueMessage(opened.id, opened.lease)).rejects.toMatchObject({
      code: "entry_not_found",
    });
    await opened.abort();
  });
});
