/** Invalid input: each gets a coded error, and the store is unchanged. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BackscrollError, type Engine, open, type SessionHandle } from "../src/index.ts";
import { createDatabase } from "./support/postgres.ts";
import { type WrongCall, wrongCalls } from "./support/wrong-calls.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", () => Promise.resolve(":memory:")],
  ["PostgreSQL", createDatabase],
];

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  let engine: Engine;
  let session: SessionHandle;
  let entryId: string;

  beforeAll(async () => {
    engine = await open(await newAddress());
    session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
    entryId = (await session.append({ role: "user", content: "first" })).id;
  });
  afterAll(() => engine.close());

  /** The call is refused with one of `codes`, and the feed has not moved. */
  function refused(name: string, call: () => unknown, ...codes: string[]): Promise<void> {
    return allRefused([{ name, call }], ...codes);
  }

  /** The same for several calls. The store is compared once at the end, which takes longer than a call. */
  async function allRefused(calls: readonly WrongCall[], ...codes: string[]): Promise<void> {
    const before = await held(engine);
    const unexpected: string[] = [];
    for (const { name, call } of calls) {
      const outcome = await outcomeOf(call);
      if (!codes.includes(outcome)) unexpected.push(`${name}: ${outcome}`);
    }
    expect(unexpected).toEqual([]);
    expect(await held(engine), calls.map(({ name }) => name).join(", ")).toEqual(before);
  }

  test("wrong types, for every field of every call", async () => {
    const calls = wrongCalls(engine, session, entryId);
    const codes = ["invalid_input", "too_large", "invalid_cursor"];
    for (let from = 0; from < calls.length; from += 50) {
      await allRefused(calls.slice(from, from + 50), ...codes);
    }
  });

  test.each([
    "01ARYZ6S41TSV4RRFFQ69G5FAV",
    "",
    "../s",
    "s/../s",
    "S",
    " s",
    "s\0",
    "\ud800",
    "x".repeat(10_000),
  ])("%j is an unknown id", async (id) => {
    const text = { role: "user", content: "x" } as const;
    const ofSession = {
      getSession: () => engine.getSession(id),
      getSessionMeta: () => engine.getSessionMeta(id),
      deleteSession: () => engine.deleteSession(id),
      listMessages: () => engine.listMessages(id),
    };
    const ofEntry = {
      getEntry: () => session.getEntry(id),
      branch: () => session.branch(id),
      edit: () => session.edit(id, "x"),
      regenerate: () => session.regenerate(id, text),
      label: () => session.label(id, "x"),
      pin: () => session.pin(id),
      removeEntry: () => session.removeEntry(id),
      replaceSuffix: () => session.replaceSuffix({ expected: [id], replacement: [] }),
      append: () => session.append(text, { parent: id }),
      fork: () => session.fork({ createdBy: "test", through: id }),
      history: () => session.history({ before: id }),
      leaf: () => session.listMessages({ leaf: id }),
      around: () => session.listMessages({ around: id }),
      after: () => session.listEntries({ after: id }),
      abortMessage: () => engine.abortMessage(id),
    };
    await allRefused(named(ofSession), "session_not_found", "invalid_input");
    await allRefused(named(ofEntry), "entry_not_found", "invalid_input");
    await refused("getFact", () => engine.getFact(id), "fact_not_found", "invalid_input");
    const memory = () => engine.getMemory("test", id);
    await refused("getMemory", memory, "memory_not_found", "invalid_input");
  });

  test("ids of another tenant are unknown ids", async () => {
    const other = engine.forTenant("other");
    const theirs = await other.createSession({ id: "theirs", agent: "test", createdBy: "test" });
    const entry = await theirs.append({ role: "user", content: "private" });
    const [fact] = await theirs.addFacts([{ subject: "a", predicate: "b", object: "c" }]);
    await other.putMemory({ agent: "test", name: "m", content: "private" });
    const stream = await theirs.openMessage({ role: "assistant" });

    await refused("getSession", () => engine.getSession("theirs"), "session_not_found");
    await refused("delete", () => engine.deleteSession("theirs"), "session_not_found");
    await refused("getEntry", () => engine.getEntry(entry.id), "entry_not_found");
    await refused("pending", () => engine.getEntry(stream.id), "entry_not_found");
    await refused("abort", () => engine.abortMessage(stream.id), "entry_not_found");
    await refused("branch", () => session.branch(entry.id), "entry_not_found");
    await refused("edit", () => session.edit(entry.id, "x"), "entry_not_found");
    const append = () => session.append({ role: "user", content: "x" }, { parent: entry.id });
    await refused("append", append, "entry_not_found");
    const fork = () => session.fork({ createdBy: "test", through: entry.id });
    await refused("fork", fork, "entry_not_found");
    await refused("getFact", () => engine.getFact(fact?.id ?? ""), "fact_not_found");
    await refused("deleteFact", () => engine.deleteFact(fact?.id ?? ""), "fact_not_found");
    await refused("getMemory", () => engine.getMemory("test", "m"), "memory_not_found");
    await refused("deleteMemory", () => engine.deleteMemory("test", "m"), "memory_not_found");

    expect((await engine.listSessions()).sessions.map((each) => each.id)).toEqual(["s"]);
    expect(await engine.listMemories()).toEqual([]);
    expect(await engine.listFacts()).toEqual([]);
    // The same id in both tenants is two sessions.
    const same = await other.createSession({ id: "s", agent: "test", createdBy: "test" });
    await same.append({ role: "user", content: "theirs" });
    expect((await session.meta()).messageCount).toBe(1);
    await stream.abort();
  });

  test("an entry of another session of the same tenant", async () => {
    const other = await engine.createSession({ agent: "test", createdBy: "test" });
    const { id } = await other.append({ role: "user", content: "elsewhere" });
    await refused("getEntry", () => session.getEntry(id), "entry_not_found");
    await refused("branch", () => session.branch(id), "entry_not_found");
    await refused("pin", () => session.pin(id), "entry_not_found");
    await refused("remove", () => session.removeEntry(id), "entry_not_found");
    await refused("label", () => session.label(id, "x"), "entry_not_found");
    await refused("edit", () => session.edit(id, "x"), "entry_not_found");
    await refused("history", () => session.history({ before: id }), "entry_not_found");
    await refused("leaf", () => session.listMessages({ leaf: id }), "entry_not_found");
    await other.delete();
  });

  test("messages that are too large", async () => {
    const text = (bytes: number) => ({ role: "user" as const, content: "x".repeat(bytes) });
    await refused("10 MB", () => session.append(text(10 * 2 ** 20)), "too_large");
    const blocks = Array.from({ length: 10_000 }, () => ({ type: "text", text: "x" }));
    await refused("blocks", () => session.append({ role: "user", content: blocks }), "too_large");
    const many = Array.from({ length: 1_001 }, () => text(1));
    await refused("batch", () => session.append(many), "too_large");
    const heavy = Array.from({ length: 9 }, () => text(7.9 * 2 ** 20));
    await refused("batch bytes", () => session.append(heavy), "too_large");
    const metadata = { note: "x".repeat(70_000) };
    await refused("metadata", () => session.append({ ...text(1), metadata }), "too_large");
    await refused("title", () => session.setTitle("x".repeat(1_025)), "too_large");
    const memory = { agent: "test", name: "m", content: "x".repeat(8_193) };
    await refused("memory", () => engine.putMemory(memory), "too_large");
  });

  test("messages just below the limits are accepted, and returned whole", async () => {
    const content = "é".repeat(4 * 2 ** 20 - 1_000);
    const large = await session.append({ role: "user", content });
    expect((await session.getEntry(large.id)).blocks).toEqual([{ type: "text", text: content }]);
    const blocks = Array.from({ length: 2_000 }, (_, i) => ({
      type: "text" as const,
      text: `${i}`,
    }));
    const wide = await session.append({ role: "user", content: blocks });
    expect((await session.getEntry(wide.id)).blocks).toEqual(blocks);
    const [preview] = (await session.listMessages({ around: large.id, limit: 1, preview: true }))
      .messages;
    expect(preview?.truncated).toBe(true);
    expect(JSON.stringify(preview).length).toBeLessThan(2_000);
  });

  test("empty batches and messages", async () => {
    await refused("no messages", () => session.append([]), "invalid_input");
    await refused("no content", () => session.append({ role: "user" }), "invalid_input");
    const empty = { role: "user", content: "" } as const;
    await refused("empty text", () => session.append(empty), "invalid_input");
    await refused("no blocks", () => session.append({ ...empty, content: [] }), "invalid_input");
    await refused("no facts", () => session.addFacts([]), "invalid_input");
    // Atomic: one bad message, and none of the batch is stored.
    const batch = () => session.append([{ role: "user", content: "good" }, empty]);
    await refused("batch", batch, "invalid_input");
  });

  test("a session id that is taken", async () => {
    const again = () => engine.createSession({ id: "s", agent: "test", createdBy: "test" });
    await refused("create", again, "session_exists");
    await refused("fork", () => session.fork({ id: "s", createdBy: "test" }), "session_exists");
    const origin = { source: "x", key: "k" };
    await engine.createSession({ agent: "test", createdBy: "test", origin });
    const twice = () => engine.createSession({ agent: "test", createdBy: "test", origin });
    await refused("origin", twice, "session_exists");
  });

  test("another request under the same idempotency key", async () => {
    const message = { role: "user", content: "once" } as const;
    const options = { idempotencyKey: "key" };
    const first = await session.append(message, options);
    expect(await session.append(message, options)).toEqual(first);
    const { messageCount } = await session.meta();
    const code = "idempotency_conflict";
    const other = { ...message, content: "other" };
    await refused("append", () => session.append(other, options), code);
    await refused("batch", () => session.append([message, message], options), code);
    await refused("edit", () => session.edit(first.id, "x", options), code);
    const expected = { ...options, expectedLeaf: first.id };
    await refused("expectation", () => session.append(message, expected), code);
    await refused("open", () => session.openMessage({ role: "user", ...options }), code);
    expect((await session.meta()).messageCount).toBe(messageCount);
    const create = { agent: "test", createdBy: "test", ...options };
    await engine.createSession(create);
    await refused("create", () => engine.createSession({ ...create, title: "t" }), code);
  });

  test("more than a tenant's quota", async () => {
    const small = engine.forTenant("small");
    await small.setQuota({ maxSessions: 1, maxEntries: 2, maxContentBytes: 1_000 });
    const own = await small.createSession({ agent: "test", createdBy: "test" });
    const create = () => small.createSession({ agent: "test", createdBy: "test" });
    await refused("sessions", create, "quota_exceeded");
    const big = { role: "user", content: "x".repeat(2_000) } as const;
    await refused("bytes", () => own.append(big), "quota_exceeded");
    await own.append([1, 2].map(() => ({ role: "user" as const, content: "x" })));
    const append = () => own.append({ role: "user", content: "x" });
    await refused("entries", append, "quota_exceeded");
    await small.setQuota({});
    await own.append({ role: "user", content: "x" });
  });
});

describe("an invalid address", () => {
  test.each(["", " ", "mysql://host/db", "https://example.org", "a\0b", 5, null, undefined, {}])(
    "%j",
    async (address) => {
      await expect(open(address as string)).rejects.toMatchObject({ code: "invalid_address" });
    },
  );

  test("a folder", async () => {
    await expect(open(import.meta.dirname)).rejects.toMatchObject({ code: "invalid_address" });
  });

  test("a server that does not answer", async () => {
    await expect(open("postgres://nobody@127.0.0.1:1/none")).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});

function named(calls: Readonly<Record<string, () => unknown>>): WrongCall[] {
  return Object.entries(calls).map(([name, call]) => ({ name, call }));
}

/** The error code of a refused call; otherwise its result or exception. */
async function outcomeOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return "accepted";
  } catch (error) {
    return BackscrollError.is(error) ? error.code : `no coded error: ${error}`;
  }
}

/** The tenant's content, without the index, which maintenance changes concurrently. */
async function held(engine: Engine): Promise<readonly unknown[]> {
  return (await engine.status()).tenants.map(({ index: _, ...rest }) => rest);
}
