/** The memory domain of Mastra, as the package's own classes and agents use it. */

import { MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { mastraMemory } from "../../src/adapters/mastra/index.ts";
import { Records } from "../../src/engine/records/records.ts";
import { open } from "../../src/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";
import { createAgent } from "./agents/mastra.ts";
import { idsOf, START, say, sayWithTool } from "./agents/mastra-messages.ts";

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  let memory: MemoryStorage;
  let spaces = 0;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  /** A domain without data. */
  const create = (namespace = `mastra-${++spaces}`) => ({
    namespace,
    memory: mastraMemory(world.engine, { MemoryStorage, namespace, user: "ana", agent: "zoo" }),
  });
  const saveThread = (id: string, fields: object = {}) => {
    const dates = { createdAt: new Date(START), updatedAt: new Date(START) };
    return memory.saveThread({ thread: { id, resourceId: "ana", title: "", ...dates, ...fields } });
  };
  const isFound = async (words: string) =>
    (await world.engine.searchSessions(words)).hits.length > 0;

  describe("threads", () => {
    test("round-trip, and belong to their resource", async () => {
      ({ memory } = create());
      const metadata = { plan: "free", tags: ["a"], n: 1 };
      const saved = await saveThread("a/b c", { title: "Zoo", metadata });
      expect(await memory.getThreadById({ threadId: "a/b c" })).toEqual(saved);
      expect(await memory.getThreadById({ threadId: "a/b c", resourceId: "ana" })).toEqual(saved);
      expect(await memory.getThreadById({ threadId: "a/b c", resourceId: "bo" })).toBeNull();
      expect(await memory.getThreadById({ threadId: "none" })).toBeNull();
      const store = new MastraCompositeStore({ id: "b", domains: { memory } });
      expect(await store.getStore("memory")).toBe(memory);
    });

    test("an update keeps other fields", async () => {
      ({ memory } = create());
      await saveThread("t", { title: "Zoo", metadata: { a: 1, b: { c: 2 } } });
      await memory.updateThread({ id: "t", metadata: { b: 3 } });
      await memory.patchThread({ id: "t", title: "Park" });
      const thread = await memory.getThreadById({ threadId: "t" });
      expect(thread).toMatchObject({ title: "Park", metadata: { a: 1, b: 3 } });
      expect(thread?.updatedAt.getTime()).toBeGreaterThan(START);
      expect(thread?.createdAt).toEqual(new Date(START));
      await expect(memory.updateThread({ id: "none", title: "x" })).rejects.toThrow(
        "Thread with id none not found",
      );
    });

    test("concurrent updates of several processes all count", async () => {
      const first = create();
      ({ memory } = first);
      await saveThread("t", { metadata: { n: 0 } });
      const others = [memory, create(first.namespace).memory, create(first.namespace).memory];
      const add = (each: MemoryStorage) =>
        each.updateThreadMetadata({
          id: "t",
          update: ({ metadata }) => ({ n: Number(metadata?.["n"]) + 1 }),
        });
      await Promise.all([...others, ...others].map(add));
      expect((await memory.getThreadById({ threadId: "t" }))?.metadata).toEqual({ n: 6 });
      const update = () => ({ n: 0 });
      expect(await memory.updateThreadMetadata({ id: "t", resourceId: "bo", update })).toBeNull();
      expect(await memory.updateThreadMetadata({ id: "none", update })).toBeNull();
    });

    test("are listed by resource and metadata, in order and by page", async () => {
      ({ memory } = create());
      for (let i = 0; i < 5; i++) {
        const createdAt = new Date(START + i);
        const metadata = i === 4 ? undefined : { even: i % 2 === 0, deep: { i: [i] } };
        await saveThread(`t${i}`, { createdAt, metadata, resourceId: i === 3 ? "bo" : "ana" });
      }
      const list = async (input: Parameters<MemoryStorage["listThreads"]>[0]) => {
        const { threads, ...page } = await memory.listThreads(input);
        return { ids: threads.map(({ id }) => id), ...page };
      };
      expect(await list({})).toMatchObject({ ids: ["t4", "t3", "t2", "t1", "t0"], total: 5 });
      expect(await list({ filter: { resourceId: "ana" }, perPage: 2, page: 1 })).toEqual({
        ids: ["t1", "t0"],
        total: 4,
        page: 1,
        perPage: 2,
        hasMore: false,
      });
      const ascending = { field: "createdAt", direction: "ASC" } as const;
      const even = { metadata: { even: true } };
      expect((await list({ filter: even, orderBy: ascending })).ids).toEqual(["t0", "t2"]);
      expect((await list({ filter: { metadata: { deep: { i: [1] } } } })).ids).toEqual(["t1"]);
      expect(await list({ perPage: false })).toMatchObject({ perPage: false, hasMore: false });
      await memory.updateThread({ id: "t0", title: "x" });
      expect((await list({ orderBy: { field: "updatedAt" } })).ids[0]).toBe("t0");
      await expect(list({ page: -1 })).rejects.toThrow("page must be >= 0");
      await expect(list({ perPage: false, page: 1 })).rejects.toThrow("page must be 0");
      await expect(list({ filter: { metadata: { "a-b": 1 } } })).rejects.toThrow(
        "Invalid metadata",
      );
    });

    test("move to another resource with their messages", async () => {
      ({ memory } = create());
      await saveThread("t");
      await memory.saveMessages({ messages: [say("t", "m1", "x"), say("t", "m2", "y")] });
      const moved = await memory.updateThreadResourceId({ threadId: "t", resourceId: "bo" });
      expect(moved).toMatchObject({ resourceId: "bo", createdAt: new Date(START) });
      expect(idsOf(await memory.listMessages({ threadId: "t", resourceId: "bo" }))).toHaveLength(2);
      expect(idsOf(await memory.listMessages({ threadId: "t", resourceId: "ana" }))).toEqual([]);
      const { threads } = await memory.listThreads({ filter: { resourceId: "ana" } });
      expect(threads).toEqual([]);
    });

    test("are cloned with the messages that are asked for", async () => {
      ({ memory } = create());
      await saveThread("t", { title: "Zoo" });
      const messages = [1, 2, 3, 4].map((at) => say("t", `m${at}`, `text ${at}`, { at }));
      await memory.saveMessages({ messages });
      const { thread, clonedMessages, messageIdMap } = await memory.cloneThread({
        sourceThreadId: "t",
        newThreadId: "copy",
        metadata: { why: "test" },
        options: { messageLimit: 2, messageFilter: { endDate: new Date(START + 3) } },
      });
      expect(thread).toMatchObject({
        id: "copy",
        title: "Clone of Zoo",
        resourceId: "ana",
        metadata: { why: "test", clone: { sourceThreadId: "t", lastMessageId: "m3" } },
      });
      expect(clonedMessages.map(({ content }) => content)).toEqual(
        messages.slice(1, 3).map(({ content }) => content),
      );
      expect(Object.keys(messageIdMap ?? {})).toEqual(["m2", "m3"]);
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toHaveLength(4);
      const again = memory.cloneThread({ sourceThreadId: "t", newThreadId: "copy" });
      await expect(again).rejects.toThrow("already exists");
      await expect(memory.cloneThread({ sourceThreadId: "none" })).rejects.toThrow("not found");
    });
  });

  describe("messages", () => {
    test("round-trip in order of time, then of saving", async () => {
      ({ memory } = create());
      await saveThread("t");
      const odd = sayWithTool("t", "m/4", 5);
      const messages = [odd, say("t", "m1", "one"), say("t", "m2", "two"), say("t", "m3", "three")];
      expect(await memory.saveMessages({ messages })).toEqual({ messages });
      const listed = await memory.listMessages({ threadId: "t" });
      expect(listed.messages).toEqual([...messages.slice(1), odd]);
      expect(listed).toMatchObject({ total: 4, page: 0, perPage: 40, hasMore: false });
      expect(
        (await memory.listMessagesById({ messageIds: ["m/4", "none", "m1"] })).messages,
      ).toEqual([messages[1], odd]);
      const updated = await memory.getThreadById({ threadId: "t" });
      expect(updated?.updatedAt.getTime()).toBeGreaterThan(START);
      expect(await isFound("potoroo")).toBe(true);
    });

    test("are listed by page, date, metadata and resource, with included neighbours", async () => {
      ({ memory } = create());
      const messages = [0, 1, 2, 3, 4, 5].map((at) =>
        say("t", `m${at}`, `text ${at}`, {
          at,
          resourceId: at === 3 ? "bo" : "ana",
          metadata: { even: at % 2 === 0, at },
        }),
      );
      await memory.saveMessages({ messages: messages.toReversed() });
      await memory.saveMessages({ messages: [say("u", "other", "x", { at: 9 })] });
      const list = (input: object) => memory.listMessages({ threadId: "t", ...input });
      const descending = { field: "createdAt", direction: "DESC" } as const;
      expect(await list({ perPage: 2, page: 1 })).toMatchObject({
        messages: messages.slice(2, 4),
        total: 6,
        hasMore: true,
      });
      const newest = { perPage: 2, orderBy: descending };
      expect(idsOf(await list(newest))).toEqual(["m5", "m4"]);
      const bounded = await list({ ...newest, includeTotal: false, resourceId: "ana" });
      expect([idsOf(bounded), bounded.hasMore]).toEqual([["m5", "m4"], true]);
      const rest = await list({ ...newest, includeTotal: false, page: 2 });
      expect([idsOf(rest), rest.hasMore]).toEqual([["m1", "m0"], false]);
      expect((await list({ resourceId: "ana" })).total).toBe(5);
      const from = new Date(START + 1);
      const to = new Date(START + 4);
      const dateRange = { start: from, end: to };
      expect(idsOf(await list({ filter: { dateRange } }))).toEqual(["m1", "m2", "m3", "m4"]);
      const open = { ...dateRange, startExclusive: true, endExclusive: true };
      expect(idsOf(await list({ filter: { dateRange: open } }))).toEqual(["m2", "m3"]);
      expect(idsOf(await list({ filter: { metadata: { even: true } } }))).toHaveLength(3);
      expect(idsOf(await list({ filter: { metadata: { at: "1" } } }))).toEqual([]);
      const include = [{ id: "m2", withPreviousMessages: 1, withNextMessages: 1 }];
      expect(idsOf(await list({ perPage: 0, include }))).toEqual(["m1", "m2", "m3"]);
      const ofAna = { perPage: 0, include, resourceId: "ana" };
      expect(idsOf(await list(ofAna))).toEqual(["m1", "m2", "m4"]);
      expect(idsOf(await list({ ...ofAna, resourceId: "bo" }))).toEqual([]);
      const far = await memory.listMessages({ threadId: "u", include });
      expect(idsOf(far)).toEqual(["m1", "m2", "m3", "other"]);
      const two = await memory.listMessages({ threadId: ["u", "t"], perPage: false });
      expect(idsOf(two)).toHaveLength(7);
      const ofResource = await memory.listMessagesByResourceId({ resourceId: "ana", perPage: 3 });
      expect([idsOf(ofResource), ofResource.total]).toEqual([["m0", "m1", "m2"], 6]);
      const wrong = list({ filter: { metadata: { at: {} } } });
      await expect(wrong).rejects.toBeInstanceOf(TypeError);
      await expect(memory.listMessages({ threadId: [] })).rejects.toThrow("threadId must be");
    });

    test("a repeated id replaces its message, for search as well", async () => {
      ({ memory } = create());
      await memory.saveMessages({
        messages: [say("t", "m1", "a dunnart"), say("t", "m2", "a woylie", { at: 1 })],
      });
      await memory.saveMessages({ messages: [say("t", "m1", "a bettong")] });
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual(["m1", "m2"]);
      expect(await isFound("dunnart")).toBe(false);
      expect(await isFound("bettong woylie")).toBe(true);
      // The same id under another time, in another thread.
      await memory.saveMessages({ messages: [say("u", "m1", "a kowari", { at: 7 })] });
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual(["m2"]);
      expect(idsOf(await memory.listMessages({ threadId: "u" }))).toEqual(["m1"]);
      expect(await isFound("bettong")).toBe(false);
      expect(await isFound("kowari")).toBe(true);
    });

    test("saved concurrently by several processes are stored once", async () => {
      const first = create();
      ({ memory } = first);
      await saveThread("t");
      const others = [memory, create(first.namespace).memory, create(first.namespace).memory];
      const save = (each: MemoryStorage, n: number) =>
        each.saveMessages({
          messages: [say("t", "same", "same", { at: n }), say("t", `own ${n}`, "own")],
        });
      await Promise.all([...others, ...others].map(save));
      const { messages, total } = await memory.listMessages({ threadId: "t" });
      expect(total).toBe(7);
      expect(messages.filter(({ id }) => id === "same")).toHaveLength(1);
    });

    test("saved in turns by several processes all count, and renew their thread", async () => {
      const other = create(`mastra-${spaces + 1}`).memory;
      ({ memory } = create());
      let { updatedAt } = await saveThread("t");
      for (const [i, writer] of [memory, memory, other, memory].entries()) {
        await writer.saveMessages({ messages: [say("t", `m${i}`, "x", { at: i })] });
        const renewed = (await memory.getThreadById({ threadId: "t" }))?.updatedAt.getTime();
        expect(renewed).toBeGreaterThan(updatedAt.getTime());
        ({ updatedAt } = await other.updateThread({ id: "t", title: `${i}`, metadata: {} }));
      }
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toHaveLength(4);
      await other.deleteThread({ threadId: "t" });
      await memory.saveMessages({ messages: [say("t", "late", "x")] });
    });

    test("updates are merged, and a message may move to another thread", async () => {
      ({ memory } = create());
      await saveThread("t");
      await saveThread("u");
      const metadata = { a: 1, b: 1 };
      await memory.saveMessages({
        messages: [say("t", "m1", "a numbat", { metadata }), say("t", "m2", "last", { at: 1 })],
      });
      const changed = await memory.updateMessages({
        messages: [
          { id: "m1", content: { metadata: { b: 2 } } as never },
          { id: "none", role: "user" },
        ],
      });
      expect(changed.map(({ id }) => id)).toEqual(["m1"]);
      const [one] = (await memory.listMessages({ threadId: "t" })).messages;
      expect(one?.content).toMatchObject({
        metadata: { a: 1, b: 2 },
        parts: [{ type: "text", text: "a numbat" }],
      });
      await memory.updateMessages({ messages: [{ id: "m1", threadId: "u" }] });
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual(["m2"]);
      expect(idsOf(await memory.listMessages({ threadId: "u" }))).toEqual(["m1"]);
      const { hits } = await world.engine.searchSessions("numbat");
      expect(hits).toHaveLength(1);
    });

    test("that are deleted disappear from lists and search, as with a deleted thread", async () => {
      const { namespace, memory: own } = create();
      memory = own;
      await saveThread("t");
      await memory.saveMessages({
        messages: [say("t", "m1", "a quoll"), say("t", "m2", "a quenda", { at: 1 })],
      });
      await memory.deleteMessages(["m1", "none"]);
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual(["m2"]);
      expect(await isFound("quoll")).toBe(false);
      await memory.saveMessages({ messages: [say("t", "m1", "a phascogale", { at: 2 })] });
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual(["m2", "m1"]);
      expect(await isFound("quenda phascogale")).toBe(true);
      await memory.deleteThread({ threadId: "t" });
      expect(await memory.getThreadById({ threadId: "t" })).toBeNull();
      expect(idsOf(await memory.listMessages({ threadId: "t" }))).toEqual([]);
      expect((await memory.listMessagesById({ messageIds: ["m2"] })).messages).toEqual([]);
      expect(await isFound("quenda")).toBe(false);
      await memory.saveMessages({ messages: [say("t", "m3", "a wambenger")] });
      await memory.dangerouslyClearAll();
      expect((await world.engine.records.list({ namespace })).records).toEqual([]);
      expect(await isFound("wambenger")).toBe(false);
    });

    test("large batches are stored in parts, and invalid ones are refused", async () => {
      ({ memory } = create());
      const many = Array.from({ length: 250 }, (__, at) => say("t", `m${at}`, `${at}`, { at }));
      await memory.saveMessages({ messages: many });
      const { messages } = await memory.listMessages({ threadId: "t", perPage: false });
      expect(messages).toEqual(many);
      const refused = (message: object, text: string) =>
        expect(
          memory.saveMessages({ messages: [{ ...say("t", "x", "x"), ...message }] }),
        ).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining(text) });
      await refused({ threadId: undefined }, "message.threadId");
      await refused({ id: "" }, "message.id");
      await refused({ createdAt: "never" }, "message.createdAt");
      expect((await memory.listMessagesById({ messageIds: ["x"] })).messages).toEqual([]);
    });
  });

  test("resources have working memories, and are found by them", async () => {
    const { namespace, memory: own } = create();
    memory = own;
    expect(await memory.getResourceById({ resourceId: "ana" })).toBeNull();
    await memory.updateResource({ resourceId: "ana", workingMemory: "Likes the wombat." });
    await memory.updateResource({ resourceId: "ana", metadata: { a: 1 } });
    await memory.updateResource({ resourceId: "ana", metadata: { b: 2 } });
    expect(await memory.getResourceById({ resourceId: "ana" })).toMatchObject({
      id: "ana",
      workingMemory: "Likes the wombat.",
      metadata: { a: 1, b: 2 },
      createdAt: expect.any(Date),
    });
    const [hit] = await world.engine.records.search("wombat", { namespace });
    expect(hit?.key).toContain("ana");
    const dates = { createdAt: new Date(START), updatedAt: new Date(START) };
    const resource = { id: "bo", workingMemory: "", metadata: {}, ...dates };
    expect(await memory.saveResource({ resource })).toEqual(resource);
    expect(await memory.getResourceById({ resourceId: "bo" })).toEqual(resource);
  });

  test("an agent continues its thread, with its notes", async () => {
    const place = { thread: `chat ${++spaces}`, resource: "ana" };
    const first = createAgent(world.engine, async () => "a mulgara");
    const options = { memory: place, maxSteps: 3 };
    const said = await first.agent.stream("Who is in the trap?", options);
    expect((await said.getFullOutput()).text).toBe("It was a mulgara.");
    const { thread: threadId, resource: resourceId } = place;
    const workingMemory = "Ana studies mulgaras.";
    await first.memory.updateWorkingMemory({ threadId, resourceId, workingMemory });

    const given: unknown[] = [];
    const second = createAgent(
      world.engine,
      async () => "a kultarr",
      (prompt) => given.push(prompt),
    );
    await (await second.agent.stream("And now?", options)).getFullOutput();
    expect(JSON.stringify(given[0])).toContain("It was a mulgara.");
    expect(JSON.stringify(given[0])).toContain(workingMemory);
    const session = await world.engine.findSessionByOrigin(`mastra:${threadId}`);
    const { hits } = await world.engine.searchSessions("mulgara kultarr");
    expect(hits[0]?.sessionId).toBe(session?.id);
  });
});

test("the newest messages of a long thread are read without the others", async () => {
  const engine = await open(":memory:", { inThread: true });
  onTestFinished(() => engine.close());
  const memory = mastraMemory(engine, { MemoryStorage, sessions: false });
  const messages = Array.from({ length: 600 }, (_, at) => say("t", `m${at}`, "x", { at }));
  await memory.saveMessages({ messages });
  const list = vi.spyOn(Records.prototype, "list");
  const get = vi.spyOn(Records.prototype, "getMany");
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const newest = await memory.listMessages({
    threadId: "t",
    resourceId: "ana",
    perPage: 10,
    orderBy: { field: "createdAt", direction: "DESC" },
    includeTotal: false,
  });
  expect(newest.messages.map(({ id }) => id)).toContain("m599");
  expect(list).toHaveBeenCalledTimes(1);
  expect(get.mock.calls.map(([, keys]) => keys.length)).toEqual([10]);
  expect((await engine.listSessions()).sessions).toEqual([]);
});
