import { describe, expect, test } from "vitest";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import type { CommitStreamRequest, OpenStreamRequest } from "../requests.ts";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  feedOf,
  message,
  messagesOf,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const USAGE = { inputTokens: 1, outputTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 0 };

export function streamCases({ store, tenant }: Cases): void {
  async function session(): Promise<{ acme: string; id: string }> {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    return { acme, id };
  }

  function open(acme: string, sessionId: string, over: Partial<OpenStreamRequest> = {}) {
    return store().openStream(acme, {
      sessionId,
      id: nextId(),
      role: "assistant",
      actor: "coder",
      metadata: '{"at":"opening"}',
      model: "m-0",
      adapter: null,
      holder: "me",
      leaseMs: 60_000,
      now: T0,
      ...over,
    });
  }

  function write(acme: string, id: string, text: string | null, holder = "me") {
    const chunks = text === null ? null : JSON.stringify([text]);
    return store().writeStream(acme, { id, holder, chunks, leaseMs: 60_000, now: T0 });
  }

  function commit(
    acme: string,
    sessionId: string,
    id: string,
    over: Partial<CommitStreamRequest> = {},
  ) {
    return store().commitStream(acme, {
      sessionId,
      id,
      holder: "me",
      chunks: null,
      usage: null,
      model: null,
      adapter: null,
      metadata: null,
      now: T0,
      ...over,
    });
  }

  describe("a pending message", () => {
    test("is counted among its session's open messages until it ends", async () => {
      const acme = tenant();
      const [one, two] = [await createSession(store(), acme), await createSession(store(), acme)];
      await append(store(), acme, two.id, message("x".repeat(100)));
      const opened = await open(acme, one.id);
      const sizes = async () => {
        const all = await store().readSessionSizes(acme, [one.id, two.id, "none"]);
        return all
          .map((size) => [size.sessionId, size.contentBytes > 100, size.openMessages])
          .sort();
      };
      expect(await sizes()).toEqual([
        [one.id, false, 1],
        [two.id, true, 0],
      ]);
      await store().abortStream(acme, { ...opened, chunks: null, reason: "enough", now: T0 });
      expect((await sizes())[0]).toEqual([one.id, false, 0]);
      expect(await store().readSessionSizes("nobody", [one.id])).toEqual([]);
    });

    test("gets its place in the tree at the commit", async () => {
      const { acme, id } = await session();
      await append(store(), acme, id, message("1"));
      const stream = await open(acme, id);
      await write(acme, stream.id, "Because ");
      await write(acme, stream.id, "the lock");
      expect(await store().findPending(acme, stream.id)).toMatchObject({
        id: stream.id,
        sessionId: id,
        role: "assistant",
        actor: "coder",
        metadata: '{"at":"opening"}',
        model: "m-0",
        adapter: null,
        openedAt: T0,
        chunks: ['["Because "]', '["the lock"]'],
      });
      expect(await messagesOf(store(), acme, id)).toEqual(["1"]);

      const last = { chunks: '[" …"]', usage: USAGE, model: "m-1", adapter: "x", now: T0 + 3 };
      const result = await commit(acme, id, stream.id, last);
      expect(result).toMatchObject({ leaf: stream.id, replayed: false });
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "Because the lock …"]);
      const [, entry] = await treeOf(store(), acme, id);
      expect(entry).toMatchObject({
        id: stream.id,
        status: "committed",
        model: "m-1",
        adapter: "x",
        metadata: '{"at":"opening"}',
        usage: USAGE,
        createdAt: T0 + 3,
      });
      expect(await store().findPending(acme, stream.id)).toBeUndefined();
      expect((await store().findSession(acme, id))?.participants).toEqual(["ana", "coder"]);
      expect((await feedOf(store(), acme, 2)).slice(0, 4)).toEqual([
        "message_opened",
        ["message_chunk", { chunk: 1 }],
        ["message_chunk", { chunk: 2 }],
        "entry_appended",
      ]);
    });

    test("is placed on the current leaf, so two commits make no branch", async () => {
      const { acme, id } = await session();
      await append(store(), acme, id, message("1"));
      const [a, b] = await Promise.all([open(acme, id), open(acme, id)]);
      await Promise.all([write(acme, a.id, "A"), write(acme, b.id, "B")]);
      await commit(acme, id, b.id);
      await commit(acme, id, a.id);
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "B", "A"]);
    });

    test("follows the parent that the commit names", async () => {
      const { acme, id } = await session();
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const [one, two] = ids as [string, string];
      const a = await open(acme, id);
      await write(acme, a.id, "2b");
      await expectCode(commit(acme, id, a.id, { expectedLeaf: one }), "stale_leaf");
      await expectCode(commit(acme, id, a.id, { parentId: nextId() }), "entry_not_found");
      expect(await store().findPending(acme, a.id)).toBeDefined();
      await commit(acme, id, a.id, { expectedLeaf: two, parentId: one, supersedes: two });
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2b"]);
      const [, old] = await treeOf(store(), acme, id);
      expect(old?.supersededBy).toBe(a.id);
    });

    test("cannot be committed empty, nor into another session", async () => {
      const { acme, id } = await session();
      const other = await createSession(store(), acme);
      const a = await open(acme, id);
      await expectCode(commit(acme, id, a.id), "invalid_input", { field: "content" });
      await write(acme, a.id, "x");
      await expectCode(commit(acme, other.id, a.id), "entry_not_found");
      await expectCode(commit(acme, "none", a.id), "session_not_found");
      await commit(acme, id, a.id);
      expect(await messagesOf(store(), acme, id)).toEqual(["x"]);
    });

    test("is limited to the size of a committable message", async () => {
      const { acme, id } = await session();
      const a = await open(acme, id);
      const half = "x".repeat(MAX_CONTENT_BYTES);
      await write(acme, a.id, half);
      await expectCode(write(acme, a.id, half), "too_large", { field: "content" });
      expect((await store().findPending(acme, a.id))?.chunks).toHaveLength(1);
    });

    test("is written only by its lease's holder", async () => {
      const { acme, id } = await session();
      const a = await open(acme, id);
      await write(acme, a.id, "mine");
      await expectCode(write(acme, a.id, "not mine", "other"), "stream_lost", { entryId: a.id });
      await expectCode(commit(acme, id, a.id, { holder: "other" }), "stream_lost");
      const abort = { id: a.id, holder: "other", chunks: null, reason: "x", now: T0 };
      await expectCode(store().abortStream(acme, abort), "stream_lost");
      expect((await store().findPending(acme, a.id))?.chunks).toEqual(['["mine"]']);
      await expectCode(write(acme, nextId(), "x"), "entry_not_found");
    });

    test("keeps its text off the path when it is aborted", async () => {
      const { acme, id } = await session();
      const { leaf } = await append(store(), acme, id, message("1"));
      const a = await open(acme, id);
      await write(acme, a.id, "half a");
      const request = { id: a.id, chunks: '[" word"]', reason: "cancelled", now: T0 };
      const result = await store().abortStream(acme, request);
      expect(result.leaf).toBe(leaf);
      const [, entry] = await treeOf(store(), acme, id);
      expect(entry).toMatchObject({ id: a.id, status: "aborted", parentId: leaf, usage: null });
      expect(JSON.parse(entry?.content ?? "")).toEqual({
        blocks: [{ type: "text", text: "half a word" }],
        data: { reason: "cancelled" },
      });
      expect(await messagesOf(store(), acme, id)).toEqual(["1"]);
      expect((await feedOf(store(), acme)).at(-1)).toEqual([
        "message_aborted",
        { kind: "message", status: "aborted" },
      ]);
      await expectCode(commit(acme, id, a.id), "stream_lost");
      await expectCode(write(acme, a.id, "x"), "stream_lost");
      await expectCode(store().abortStream(acme, request), "stream_lost");
    });

    test("is aborted by a sweep after its lease has expired, and by no other call", async () => {
      const { acme, id } = await session();
      const dead = await open(acme, id, { leaseMs: 60_000 });
      await write(acme, dead.id, "last words");
      const late = { id: dead.id, holder: "me", chunks: null, leaseMs: -1_000, now: T0 };
      await store().writeStream(acme, late);
      const alive = await open(acme, id, { leaseMs: 60_000 });
      expect(await store().findPending(acme, dead.id)).toBeDefined();
      expect(await treeOf(store(), acme, id)).toEqual([]);

      const swept = await store().sweep({ tenant: acme, now: T0, limit: 10 });
      expect(swept.abortedMessages).toEqual([{ tenant: acme, entryId: dead.id }]);
      const [entry] = await treeOf(store(), acme, id);
      expect(entry).toMatchObject({ id: dead.id, status: "aborted" });
      expect(entry?.content).toContain("last words");
      await expectCode(commit(acme, id, dead.id), "stream_lost");
      expect(await store().findPending(acme, alive.id)).toBeDefined();
    });

    test("survives if its writer renews the expired lease before the sweep", async () => {
      const { acme, id } = await session();
      const a = await open(acme, id, { leaseMs: -1_000 });
      await write(acme, a.id, "back");
      const swept = await store().sweep({ tenant: acme, now: T0, limit: 10 });
      expect(swept.abortedMessages).toEqual([]);
      await commit(acme, id, a.id);
      expect(await messagesOf(store(), acme, id)).toEqual(["back"]);
    });

    test("passes to a new holder when reopened under its idempotency key", async () => {
      const { acme, id } = await session();
      const idempotency = { key: "open", requestHash: "cd".repeat(32) };
      const first = await open(acme, id, { idempotency });
      await write(acme, first.id, "kept ");
      const again = await open(acme, id, { idempotency, holder: "you" });
      expect(again.id).toBe(first.id);
      await expectCode(write(acme, first.id, "late"), "stream_lost");
      await write(acme, first.id, "and more", "you");
      const key = { idempotency: { key: "commit", requestHash: "ef".repeat(32) } };
      const done = await commit(acme, id, first.id, { holder: "you", ...key });
      const replayed = await commit(acme, id, first.id, { holder: "you", ...key });
      expect(replayed).toEqual({ ...done, replayed: true });
      expect(await messagesOf(store(), acme, id)).toEqual(["kept and more"]);
      await expectCode(open(acme, id, { idempotency }), "stream_lost");
      const conflict = { key: "open", requestHash: "00".repeat(32) };
      await expectCode(open(acme, id, { idempotency: conflict }), "idempotency_conflict");
    });
  });
}
