import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { IDEMPOTENCY_KEPT_MS } from "../../model/limits.ts";
import type { Row } from "../records.ts";
import {
  append,
  batches,
  type Cases,
  changesOf,
  createSession,
  dumpOf,
  expectCode,
  message,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const SECRET = "a secret that must go";
const DAY_MS = 86_400_000;

export function deleteCases({ store, tenant, fresh }: Cases): void {
  describe("deleteSession", () => {
    test("purges every row and every byte, and leaves a tombstone", async () => {
      const { store: own } = await fresh();
      const kept = await createSession(own, "a", { title: "kept" });
      await append(own, "a", kept.id, message("kept"));
      const before = await dumpOf(own);

      const { id } = await createSession(own, "a", { title: SECRET, origin: { key: "k" } });
      const idempotency = { key: "x", requestHash: "00".repeat(32) };
      const entries = [message(SECRET), message(`${SECRET} `.repeat(500)), message("2")];
      await own.append("a", { sessionId: id, entries, now: T0, idempotency });
      await append(own, "a", id, message("branch", { parentId: entries[0]?.id ?? "" }));
      const open = { sessionId: id, id: nextId(), holder: "me", leaseMs: 9_999, now: T0 } as const;
      const who = {
        role: "user",
        actor: SECRET,
        metadata: null,
        model: null,
        adapter: null,
      } as const;
      await own.openStream("a", { ...open, ...who });
      await own.writeStream("a", { ...open, chunks: JSON.stringify([SECRET]) });
      const fact = { subject: SECRET, predicate: "is", object: "x", sourceEntry: null };
      const facts = [{ ...fact, id: nextId(), sessionId: id, confidence: 1, createdAt: T0 }];
      await own.addFacts("a", id, facts, T0);
      const hashes = (await treeOf(own, "a", id)).map((entry) =>
        Buffer.from(entry.hash ?? "", "hex"),
      );

      const tombstone = await own.deleteSession("a", id, "user", T0 + 1);
      expect(tombstone).toMatchObject({
        sessionId: id,
        originKey: "k",
        entryCount: 4,
        reason: "user",
        deletedAt: T0 + 1,
      });
      const digest = createHash("sha256").update(Buffer.concat(hashes)).digest();
      expect(Buffer.from(tombstone.digest)).toEqual(digest);
      const found = await own.findTombstone("a", id);
      expect(found).toEqual({ ...tombstone, digest: found?.digest });
      expect(Buffer.from(found?.digest ?? [])).toEqual(digest);
      expect(await own.findSession("a", id)).toBeUndefined();
      await expectCode(own.deleteSession("a", id, "user", T0), "session_not_found");

      const { changes, tombstones, tenants, ...rest } = await dumpOf(own);
      const { changes: _, tenants: tenantsBefore, ...restBefore } = before;
      expect(rest).toEqual(restBefore);
      expect(tombstones).toHaveLength(1);
      expect(tenants).toMatchObject([counters(tenantsBefore?.[0] as Row)]);
      const everything = JSON.stringify({ changes, tombstones, rest });
      expect(everything).not.toContain(SECRET);
      expect(everything).not.toContain(Buffer.from(SECRET).toString("hex"));
      const last = (await changesOf(own, "a")).at(-1);
      expect(last).toMatchObject({ kind: "session_deleted", sessionId: id });
      expect(JSON.parse(last?.details ?? "")).toEqual({
        reason: "user",
        entries: 4,
        digest: digest.toString("hex"),
      });
    });

    test("frees the id and the origin; the newest tombstone wins", async () => {
      const acme = tenant();
      for (const reason of ["first", "second"]) {
        const { id } = await createSession(store(), acme, { id: "again", origin: { key: "k" } });
        await store().deleteSession(acme, id, reason, T0);
      }
      expect(await store().findTombstone(acme, "again")).toMatchObject({ reason: "second" });
    });
  });

  describe("payloads", () => {
    const LARGE = "x".repeat(20_000);
    const blobs = async (own: Awaited<ReturnType<typeof fresh>>["store"]) =>
      ((await dumpOf(own))["blobs"] ?? []).map((row) => Number((row as Row)["tenant"])).sort();

    test("are stored once per tenant, and deleted with their last entry", async () => {
      const { store: own } = await fresh();
      const one = await createSession(own, "a");
      const two = await createSession(own, "a");
      const other = await createSession(own, "b");
      await append(own, "a", one.id, message(LARGE), message(LARGE));
      await append(own, "a", two.id, message(LARGE), message(`${LARGE}!`));
      await append(own, "b", other.id, message(LARGE));
      expect(await blobs(own)).toEqual([1, 1, 2]);
      await own.deleteSession("a", two.id, "user", T0);
      expect(await blobs(own)).toEqual([1, 2]);
      await own.deleteSession("a", one.id, "user", T0);
      expect(await blobs(own)).toEqual([2]);
    });

    test("without references are garbage-collected by a sweep, in bounded batches", async () => {
      const { store: own } = await fresh();
      const rows = [1, 2, 3].map((n) => ({
        tenant: 1,
        hash: Buffer.alloc(32, n),
        codec: "none",
        size: 1,
        bytes: Buffer.from([n]),
      }));
      const tenants = [{ tenant: 1, name: "a", created_at: T0, feed_hash: Buffer.alloc(32) }];
      await own.load(batches({ table: "tenants", rows: tenants }, { table: "blobs", rows }));
      const first = await own.sweep({ now: T0, limit: 2 });
      expect(first).toMatchObject({ collectedBlobs: 2, more: true });
      const second = await own.sweep({ now: T0, limit: 2 });
      expect(second).toMatchObject({ collectedBlobs: 1, more: false });
      expect(await blobs(own)).toEqual([]);
    });
  });

  describe("sweep", () => {
    test("deletes sessions whose TTL since the last write has passed", async () => {
      const acme = tenant();
      const forever = await createSession(store(), acme);
      const old = await createSession(store(), acme, { ttl: 60 });
      const renewed = await createSession(store(), acme, { ttl: 60 });
      await append(store(), acme, renewed.id, message("x", { createdAt: T0 + 30_000 }));
      const sweep = (now: number) => store().sweep({ tenant: acme, now, limit: 10 });
      expect((await sweep(T0 + 59_999)).deletedSessions).toEqual([]);
      const swept = await sweep(T0 + 60_000);
      expect(swept).toMatchObject({
        deletedSessions: [{ tenant: acme, sessionId: old.id }],
        more: false,
      });
      expect(await store().findTombstone(acme, old.id)).toMatchObject({ reason: "ttl" });
      expect((await sweep(T0 + 90_000)).deletedSessions).toHaveLength(1);
      expect(await store().findSession(acme, forever.id)).toBeDefined();
    });

    test("measures the TTL from the last import or update, whatever the messages' own times", async () => {
      const acme = tenant();
      const months = 90 * DAY_MS;
      const { id } = await createSession(store(), acme, { ttl: 60, startedAt: T0 - months });
      const old = message("x", { createdAt: T0 - months });
      const now = T0 + 10_000;
      await store().append(acme, { sessionId: id, entries: [old], now, isHistory: true });
      expect(await store().findSession(acme, id)).toMatchObject({
        updatedAt: T0 - months,
        lastWriteAt: now,
      });
      const sweep = (at: number) => store().sweep({ tenant: acme, now: at, limit: 10 });
      expect((await sweep(now + 59_999)).deletedSessions).toEqual([]);
      await store().updateSession(acme, id, { title: "kept" }, now + 30_000);
      expect((await sweep(now + 89_999)).deletedSessions).toEqual([]);
      expect((await sweep(now + 90_000)).deletedSessions).toHaveLength(1);
    });

    test("stops at its limit and reports more", async () => {
      const { store: own } = await fresh();
      for (const name of ["a", "a", "b"]) await createSession(own, name, { ttl: 1 });
      const first = await own.sweep({ now: T0 + DAY_MS, limit: 2 });
      expect(first.deletedSessions.map((each) => each.tenant)).toEqual(["a", "a"]);
      expect(first.more).toBe(true);
      const second = await own.sweep({ now: T0 + DAY_MS, limit: 2 });
      expect(second.deletedSessions.map((each) => each.tenant)).toEqual(["b"]);
      expect(second.more).toBe(false);
    });

    test("deletes expired idempotency keys", async () => {
      const acme = tenant();
      const idempotency = { key: "k", requestHash: "00".repeat(32) };
      const first = await createSession(store(), acme, { idempotency });
      const sweep = (now: number) => store().sweep({ tenant: acme, now, limit: 10 });
      expect((await sweep(T0 + IDEMPOTENCY_KEPT_MS)).forgottenKeys).toBe(0);
      expect((await sweep(T0 + IDEMPOTENCY_KEPT_MS + 1)).forgottenKeys).toBe(1);
      const second = await createSession(store(), acme, { idempotency });
      expect(second.id).not.toBe(first.id);
    });
  });
}

function counters(row: Row): Row {
  const { session_count, entry_count, message_count, content_bytes } = row;
  return { session_count, entry_count, message_count, content_bytes } as Row;
}
