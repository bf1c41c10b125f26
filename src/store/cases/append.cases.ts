import { describe, expect, test } from "vitest";
import type { Cases } from "./fixture.cases.ts";
import {
  append,
  changesOf,
  createSession,
  expectCode,
  feedOf,
  label,
  marked,
  message,
  messagesOf,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const USAGE = { inputTokens: 10, outputTokens: 20, cacheCreationTokens: 3, cacheReadTokens: 4 };

export function appendCases({ store, tenant }: Cases): void {
  describe("append", () => {
    test("round-trips every field of an entry", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entry = message("hello", {
        role: "assistant",
        actor: "coder",
        usage: USAGE,
        model: "m-1",
        adapter: "anthropic",
        metadata: '{"b":1,"a":[1e20]}',
        createdAt: T0 + 5,
        copiedFrom: nextId(),
      });
      const { entries, leaf, replayed } = await append(store(), acme, id, entry);
      const [record] = await treeOf(store(), acme, id);
      expect({ leaf, replayed }).toEqual({ leaf: entry.id, replayed: false });
      expect(entries).toEqual([
        { id: entry.id, sequence: 1, parentId: null, ordinal: 1, hash: record?.hash },
      ]);
      expect(record).toMatchObject({
        id: entry.id,
        sessionId: id,
        sequence: 1,
        parentId: null,
        chain: 1,
        depth: 1,
        ordinal: 1,
        kind: "message",
        role: "assistant",
        actor: "coder",
        status: "committed",
        model: "m-1",
        adapter: "anthropic",
        usage: USAGE,
        metadata: '{"b":1,"a":[1e20]}',
        createdAt: T0 + 5,
        supersededBy: null,
        copiedFrom: entry.copiedFrom,
        pinned: false,
        content: entry.content,
        contentBytes: entry.contentBytes,
        contentHash: null,
      });
      const [found] = (await store().findEntries(acme, [entry.id], false)).entries;
      expect(found?.nonce).toHaveLength(16);
      expect(record?.hash).toHaveLength(64);
    });

    test("appends in order, alone or in a batch", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const one = await append(store(), acme, id, message("1"));
      const two = await append(store(), acme, id, message("2"), message("3"));
      expect(
        two.entries.map(({ sequence, ordinal, parentId }) => [sequence, ordinal, parentId]),
      ).toEqual([
        [2, 2, one.leaf],
        [3, 3, two.ids[0]],
      ]);
      expect(two.leaf).toBe(two.ids[1]);
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "3"]);
      expect(await feedOf(store(), acme)).toEqual([
        "session_created",
        "entry_appended",
        "entry_appended",
        "entry_appended",
      ]);
    });

    test("writes a batch atomically", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message("there"));
      const before = await snapshot(acme, id);
      const stranger = message("x", { parentId: nextId() });
      await expectCode(
        append(store(), acme, id, message("a", { actor: "new" }), stranger, message("b")),
        "entry_not_found",
        { entryId: stranger.parentId },
      );
      const twice = message("twice");
      const failed = append(store(), acme, id, message("a"), twice, twice, message("b"));
      await expect(failed).rejects.toThrow();
      expect(await snapshot(acme, id)).toEqual(before);
    });

    test("refuses an entry id that any session of the tenant has", async () => {
      const acme = tenant();
      const a = await createSession(store(), acme);
      const b = await createSession(store(), acme);
      const entry = message("x");
      await append(store(), acme, a.id, entry);
      await expect(append(store(), acme, b.id, entry)).rejects.toThrow();
      expect(await treeOf(store(), acme, b.id)).toEqual([]);
    });

    test("compare-and-swap: refuses an append whose expected leaf is stale", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entries = [message("1")];
      await store().append(acme, { sessionId: id, entries, expectedLeaf: null, now: T0 });
      const stale = { sessionId: id, entries: [message("2")], now: T0 };
      await expectCode(store().append(acme, { ...stale, expectedLeaf: null }), "stale_leaf", {
        leaf: entries[0]?.id,
        expectedLeaf: "",
      });
      await expectCode(store().append(acme, { ...stale, expectedLeaf: "other" }), "stale_leaf");
      await store().append(acme, { ...stale, expectedLeaf: entries[0]?.id ?? null });
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2"]);
    });

    test("branches from the named parent", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const [one, two] = ids as [string, string, string];
      const sibling = await append(store(), acme, id, message("3b", { parentId: two }));
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "3b"]);
      const root = await append(store(), acme, id, message("new root", { parentId: null }));
      expect(await messagesOf(store(), acme, id)).toEqual(["new root"]);
      await append(store(), acme, id, message("4b", { parentId: sibling.leaf ?? "" }));
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "3b", "4b"]);
      expect((await treeOf(store(), acme, id)).map((e) => [e.chain, e.depth, e.ordinal])).toEqual([
        [1, 1, 1],
        [1, 2, 2],
        [1, 3, 3],
        [2, 3, 3],
        [3, 1, 1],
        [2, 4, 4],
      ]);
      expect(root.entries[0]?.parentId).toBeNull();
      expect(one).toBe(ids[0]);
    });

    test("accepts a parent from the same batch", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const a = message("a");
      await append(store(), acme, id, a, message("b"), message("b2", { parentId: a.id }));
      expect(await messagesOf(store(), acme, id)).toEqual(["a", "b2"]);
    });

    test("refuses a parent of another session, and an annotation as a parent", async () => {
      const acme = tenant();
      const a = await createSession(store(), acme);
      const b = await createSession(store(), acme);
      const { ids } = await append(store(), acme, a.id, message("1"));
      const target = ids[0] ?? "";
      await expectCode(
        append(store(), acme, b.id, message("2", { parentId: target })),
        "entry_not_found",
      );
      const mark = label("here", target);
      await append(store(), acme, a.id, mark);
      await expectCode(
        append(store(), acme, a.id, message("3", { parentId: mark.id })),
        "invalid_input",
        { entryId: mark.id },
      );
    });

    test("marks the superseded entry", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const [one, two] = ids as [string, string];
      const edit = message("2, edited", { parentId: one, supersedes: two });
      await append(store(), acme, id, edit);
      const [, old] = await treeOf(store(), acme, id);
      expect(old).toMatchObject({ id: two, supersededBy: edit.id });
      expect(await feedOf(store(), acme, 3)).toEqual([
        "entry_appended",
        ["entry_superseded", { supersededBy: edit.id }],
      ]);
      await expectCode(
        append(store(), acme, id, message("3", { supersedes: nextId() })),
        "entry_not_found",
      );
    });

    test("adds annotations to the leaf without moving it", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const early = label("empty", "none");
      await append(store(), acme, id, early);
      expect((await store().findSession(acme, id))?.leaf).toBeNull();
      const { leaf } = await append(store(), acme, id, message("1"));
      const mark = label("one", leaf ?? "");
      const result = await append(
        store(),
        acme,
        id,
        mark,
        message("aborted", { status: "aborted" }),
      );
      expect(result.leaf).toBe(leaf);
      await append(store(), acme, id, message("2"));
      const tree = await treeOf(store(), acme, id);
      expect(tree.map((e) => [e.kind, e.status, e.chain, e.depth, e.ordinal, e.parentId])).toEqual([
        ["label", "committed", 0, 0, 0, null],
        ["message", "committed", 1, 1, 1, null],
        ["label", "committed", 1, 1, 1, leaf],
        ["message", "aborted", 1, 1, 1, leaf],
        ["message", "committed", 1, 2, 2, leaf],
      ]);
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2"]);
      expect(await store().findSession(acme, id)).toMatchObject({ messageCount: 2, entryCount: 5 });
      expect((await marked(store(), acme, id, "label")).map((entry) => entry.id)).toEqual([
        early.id,
        mark.id,
      ]);
    });

    test("adds each actor but tools to the participants once, in order", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme, { participants: ["owner"] });
      await append(
        store(),
        acme,
        id,
        message("1", { actor: "zoe" }),
        message("2", { actor: "bash", role: "tool" }),
        message("3", { actor: "ana" }),
        message("4", { actor: null }),
        message("5", { actor: "owner" }),
      );
      await append(
        store(),
        acme,
        id,
        message("6", { actor: "ana" }),
        message("7", { actor: "ben" }),
      );
      expect((await store().findSession(acme, id))?.participants).toEqual([
        "owner",
        "zoe",
        "ana",
        "ben",
      ]);
    });

    test("advances the four timestamps independently and monotonically", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme, { startedAt: T0, now: T0 + 100 });
      const times = async () => {
        const session = await store().findSession(acme, id);
        const { startedAt, updatedAt, lastInteractionAt, lastWriteAt } = session ?? {};
        return [startedAt, updatedAt, lastInteractionAt, lastWriteAt].map((at) => (at ?? 0) - T0);
      };
      expect(await times()).toEqual([0, 0, 0, 100]);
      const at = (createdAt: number, interaction: boolean, now: number) =>
        store().append(acme, {
          sessionId: id,
          entries: [message("x", { createdAt: T0 + createdAt, interaction })],
          now: T0 + now,
        });
      await at(50, false, 110);
      expect(await times()).toEqual([0, 50, 0, 110]);
      await at(60, true, 120);
      expect(await times()).toEqual([0, 60, 60, 120]);
      await at(10, true, 20);
      expect(await times()).toEqual([0, 60, 60, 120]);
      await store().updateSession(acme, id, { title: "x" }, T0 + 130);
      expect(await times()).toEqual([0, 60, 60, 130]);
    });

    test("sums usage, with a `context_usage` change for each report", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entry = message("1", { usage: USAGE, contextWindow: 1_000 });
      await append(store(), acme, id, entry, message("2", { usage: USAGE }), message("3"));
      expect((await store().findSession(acme, id))?.tokens).toEqual({
        inputTokens: 20,
        outputTokens: 40,
        cacheCreationTokens: 6,
        cacheReadTokens: 8,
      });
      const usages = (await changesOf(store(), acme)).filter((c) => c.kind === "context_usage");
      expect(usages[0]).toMatchObject({ sessionId: id, entryId: entry.id });
      expect(JSON.parse(usages[0]?.details ?? "")).toEqual({
        promptTokens: 17,
        completionTokens: 20,
        totalTokens: 37,
        cacheRead: 4,
        cacheWrite: 3,
        contextTokens: 37,
        contextWindow: 1_000,
        estimated: false,
      });
      expect(JSON.parse(usages[1]?.details ?? "")).not.toHaveProperty("contextWindow");
      expect(usages).toHaveLength(2);
    });

    test("sums the usage of an imported history, without `context_usage` changes", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entries = [message("1", { usage: USAGE }), message("2")];
      const result = await store().append(acme, {
        sessionId: id,
        entries,
        now: T0,
        isHistory: true,
      });
      expect(result).toEqual({ entries: [], leaf: entries[1]?.id, replayed: false });
      const session = await store().findSession(acme, id);
      expect(session).toMatchObject({ entryCount: 2, tokens: USAGE });
      const kinds = (await changesOf(store(), acme)).map(({ kind }) => kind);
      expect(kinds).toEqual(["session_created", "entry_appended", "entry_appended"]);
    });

    test("stores a compaction and the session's summary together", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const compaction = message("sum", { kind: "compaction", role: null, interaction: false });
      const request = { sessionId: id, entries: [compaction], now: T0 };
      await expectCode(
        store().append(acme, { ...request, summary: { text: "s", through: nextId() } }),
        "entry_not_found",
      );
      expect(await store().findSession(acme, id)).toMatchObject({ summary: null, entryCount: 2 });
      const summary = { text: "all so far", through: ids[0] ?? "" };
      await store().append(acme, { ...request, summary });
      expect(await store().findSession(acme, id)).toMatchObject({
        summary: "all so far",
        summarizedThrough: ids[0],
        leaf: compaction.id,
        messageCount: 2,
        entryCount: 3,
      });
    });

    test("executes a request once per idempotency key", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const idempotency = { key: "k", requestHash: "01".repeat(32) };
      const request = () => ({
        sessionId: id,
        entries: [message("1"), message("2")],
        now: T0,
        idempotency,
      });
      const first = await store().append(acme, request());
      await append(store(), acme, id, message("3"));
      const again = await store().append(acme, request());
      expect(again.entries).toEqual(first.entries);
      expect(again.replayed).toBe(true);
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "3"]);
      await expectCode(
        store().append(acme, {
          ...request(),
          idempotency: { key: "k", requestHash: "02".repeat(32) },
        }),
        "idempotency_conflict",
      );
      const other = await createSession(store(), acme);
      const elsewhere = await store().append(acme, { ...request(), sessionId: other.id });
      expect(elsewhere.replayed).toBe(false);
    });

    test("refuses unknown sessions", async () => {
      const acme = tenant();
      await expectCode(append(store(), acme, "none", message("x")), "session_not_found");
      await createSession(store(), acme);
      await expectCode(append(store(), acme, "none", message("x")), "session_not_found");
    });
  });

  async function snapshot(acme: string, id: string): Promise<unknown> {
    return {
      session: await store().findSession(acme, id),
      tree: await treeOf(store(), acme, id),
      feed: await changesOf(store(), acme),
    };
  }
}
