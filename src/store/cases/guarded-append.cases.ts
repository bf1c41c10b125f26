import { describe, expect, test } from "vitest";
import { IDEMPOTENCY_KEPT_MS } from "../../model/limits.ts";
import { decodeContent, encodeContent } from "../../transcript/content.ts";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  feedOf,
  label,
  message,
  messagesOf,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const KEY = { key: "k", requestHash: "ab".repeat(32) };

export function guardedAppendCases({ store, tenant, another }: Cases): void {
  describe("a guarded append", () => {
    test("writes nothing if an id that must be absent exists", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const one = message("one");
      const request = { sessionId, entries: [one], now: T0, guard: { absent: [one.id] } };
      await store().append(acme, request);
      const before = await store().feedHead(acme);
      const again = { ...request, entries: [message("other"), one] };
      await expectCode(store().append(acme, again), "stale_leaf", { sessionId, entryId: one.id });
      expect(await store().feedHead(acme)).toEqual(before);
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["one"]);
    });

    test("writes nothing if an entry that must be current was superseded", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const old = message("old");
      await append(store(), acme, sessionId, old);
      const edit = (text: string) => ({
        sessionId,
        entries: [message(text, { parentId: null, supersedes: old.id })],
        now: T0,
        guard: { current: [old.id] },
      });
      await store().append(acme, edit("new"));
      await expectCode(store().append(acme, edit("late")), "stale_leaf", { entryId: old.id });
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["new"]);
    });

    test("succeeds for one of many concurrent callers", async () => {
      const acme = tenant();
      const stores = [store(), await another()];
      const { id: sessionId } = await createSession(store(), acme);
      const id = nextId();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 32 }, (_, i) =>
          stores[i % 2]?.append(acme, {
            sessionId,
            entries: [message(`${i}`, { id })],
            now: T0,
            guard: { absent: [id] },
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const failed = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(new Set(failed.map((outcome) => outcome.reason.code))).toEqual(
        new Set(["stale_leaf"]),
      );
      expect(await treeOf(store(), acme, sessionId)).toHaveLength(1);
    });
  });

  describe("replacing the suffix of the active path", () => {
    test("branches off before the replaced entries, which stay in the tree", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const [a, b, c] = [message("a"), message("b"), message("c")];
      await append(store(), acme, sessionId, a, b, c);
      await append(store(), acme, sessionId, label("start", a.id));
      const result = await store().append(acme, {
        sessionId,
        entries: [message("x"), message("y")],
        replaced: [b.id, c.id],
        now: T0,
      });
      expect(result.entries.map(({ parentId }) => parentId)).toEqual([a.id, result.entries[0]?.id]);
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["a", "x", "y"]);
      expect(await messagesOf(store(), acme, sessionId, c.id)).toEqual(["a", "b", "c"]);
      expect(await store().findSession(acme, sessionId)).toMatchObject({
        messageCount: 5,
        leaf: result.entries[1]?.id,
      });
    });

    test("without new entries moves the leaf back, up to the root", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const [a, b] = [message("a"), message("b")];
      await append(store(), acme, sessionId, a, b);
      const start = (await store().feedHead(acme)).position;
      const cut = (replaced: readonly string[]) =>
        store().append(acme, { sessionId, entries: [], replaced, now: T0 });
      expect(await cut([b.id])).toEqual({ entries: [], leaf: a.id, replayed: false });
      expect(await cut([a.id])).toEqual({ entries: [], leaf: null, replayed: false });
      expect(await messagesOf(store(), acme, sessionId)).toEqual([]);
      expect(await feedOf(store(), acme, start)).toEqual([
        ["leaf_moved", { from: b.id }],
        ["leaf_moved", { from: a.id }],
      ]);
      await append(store(), acme, sessionId, message("anew"));
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["anew"]);
    });

    test("compare-and-swap: fails without effect unless the path ends with exactly these", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const [a, b, c] = [message("a"), message("b"), message("c")];
      await append(store(), acme, sessionId, a, b, c);
      const cut = (...replaced: readonly string[]) =>
        store().append(acme, { sessionId, entries: [message("x")], replaced, now: T0 });
      await expectCode(cut(b.id), "stale_leaf", { leaf: c.id, expectedLeaf: b.id });
      await expectCode(cut(a.id, c.id), "stale_leaf", { leaf: b.id, expectedLeaf: a.id });
      await expectCode(cut(c.id, b.id), "stale_leaf");
      await expectCode(cut(nextId(), c.id), "entry_not_found");
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["a", "b", "c"]);
    });

    test("executes once per lasting idempotency key, which a sweep keeps", async () => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const [a, b] = [message("a"), message("b")];
      await append(store(), acme, sessionId, a, b);
      const idempotency = { ...KEY, isLasting: true };
      const request = {
        sessionId,
        entries: [message("x")],
        replaced: [b.id],
        now: T0,
        idempotency,
      };
      const first = await store().append(acme, request);
      const other = { key: "short", requestHash: KEY.requestHash };
      const entries = [message("y")];
      await store().append(acme, { sessionId, entries, now: T0, idempotency: other });
      const later = T0 + IDEMPOTENCY_KEPT_MS + 1;
      const swept = await store().sweep({ tenant: acme, now: later, limit: 10 });
      expect(swept.forgottenKeys).toBe(1);
      const again = await store().append(acme, request);
      expect(again).toMatchObject({ entries: first.entries, replayed: true });
      expect(await messagesOf(store(), acme, sessionId)).toEqual(["a", "x", "y"]);
    });

    test("succeeds for one of many concurrent callers with the same suffix", async () => {
      const acme = tenant();
      const stores = [store(), await another()];
      const { id: sessionId } = await createSession(store(), acme);
      const last = message("last");
      await append(store(), acme, sessionId, message("first"), last);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 16 }, (_, i) =>
          stores[i % 2]?.append(acme, {
            sessionId,
            entries: i % 4 === 0 ? [] : [message(`${i}`)],
            replaced: [last.id],
            now: T0,
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });
  });

  describe("raw values beside a message", () => {
    test.each([10, 20_000])("round-trip unchanged, %s characters long", async (length) => {
      const acme = tenant();
      const { id: sessionId } = await createSession(store(), acme);
      const raw = JSON.stringify({ a: "x".repeat(length), b: [1, null] });
      const content = encodeContent({
        blocks: [{ type: "text", text: "said" }],
        data: null,
        externalId: "e/1 2",
        raw,
      });
      const { text, payloads, bytes } = content;
      const kept = message("", { content: text, payloads, contentBytes: bytes });
      await append(store(), acme, sessionId, kept);
      const { entries, payloads: read } = await store().findEntries(acme, [kept.id], true);
      const decoded = decodeContent(entries[0]?.content ?? "", (hash) => read.get(hash));
      expect(decoded).toMatchObject({ externalId: "e/1 2", raw, truncated: false });
      expect(read.size).toBe(length > 4_096 ? 1 : 0);
    });
  });
}
