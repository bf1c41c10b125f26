import { describe, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { verified } from "./feed.cases.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  expectCode,
  message,
  messagesOf,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

export function concurrencyCases({ store, tenant, another, fresh }: Cases): void {
  describe("concurrent calls", () => {
    test("create tenants with separate feeds", async () => {
      const stores = [store(), await another()];
      const tenants = Array.from({ length: 60 }, () => tenant());
      await Promise.all(tenants.map((name, i) => createSession(stores[i % 2] as Store, name)));
      for (const name of tenants) expect(await changesOf(store(), name)).toHaveLength(1);
    });

    test("store every acknowledged write, and nothing of a failed one", async () => {
      const acme = tenant();
      const stores = [store(), await another()];
      const sessions = await Promise.all([1, 2, 3].map(() => createSession(store(), acme)));
      const taken = message("taken");
      await append(store(), acme, sessions[0]?.id ?? "", taken);

      const calls = Array.from({ length: 100 }, (_, i) => {
        const sessionId = sessions[i % 3]?.id ?? "";
        const good = message(`good ${i}`);
        const bad = [
          message(`bad ${i}`, { parentId: nextId() }),
          message(`bad ${i}`, { id: taken.id }),
          message(`bad ${i}`, { supersedes: nextId() }),
        ][i % 3] as typeof good;
        const entries = i % 4 === 0 ? [good, bad] : [good, message(`also ${i}`)];
        return stores[i % 2]?.append(acme, { sessionId, entries, now: T0 });
      });
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(
        calls.map((_, i) => (i % 4 === 0 ? "rejected" : "fulfilled")),
      );

      const texts: string[] = [];
      for (const [n, { id }] of sessions.entries()) {
        const messages = await messagesOf(store(), acme, id);
        const tree = await treeOf(store(), acme, id);
        // No append named a parent, so each session is a single chain.
        expect(messages).toHaveLength(tree.length);
        expect(tree.map((entry) => entry.sequence)).toEqual(tree.map((_, i) => i + 1));
        expect(await store().findSession(acme, id)).toMatchObject({ messageCount: tree.length });
        texts.push(...messages.slice(n === 0 ? 1 : 0));
      }
      const acknowledged = calls.flatMap((_, i) => (i % 4 === 0 ? [] : [`good ${i}`, `also ${i}`]));
      expect(texts.sort()).toEqual(acknowledged.sort());

      const changes = await changesOf(store(), acme);
      expect(changes.map((change) => change.position)).toEqual(changes.map((_, i) => i + 1));
      expect(changes).toHaveLength(3 + 1 + acknowledged.length);
      const head = await store().feedHead(acme);
      expect(verified(changes)).toEqual(Buffer.from(head.hash));
    });

    test("of two stores read each other's commits immediately", async () => {
      const acme = tenant();
      const other = await another();
      const { id } = await createSession(store(), acme);
      for (let i = 0; i < 6; i++) {
        const writer = i % 2 === 0 ? store() : other;
        const expectedLeaf = (await store().findSession(acme, id))?.leaf ?? null;
        await writer.append(acme, {
          sessionId: id,
          entries: [message(`${i}`)],
          expectedLeaf,
          now: T0,
        });
      }
      await other.moveLeaf(acme, { sessionId: id, leaf: null, now: T0 });
      await append(store(), acme, id, message("root"));
      expect(await messagesOf(other, acme, id)).toEqual(["root"]);
      await other.setQuota(acme, { maxSessions: 1, maxEntries: 7, maxContentBytes: null }, T0);
      await expectCode(append(store(), acme, id, message("x")), "quota_exceeded");
      await other.deleteSession(acme, id, "user", T0);
      await expectCode(append(store(), acme, id, message("x")), "session_not_found");
    });

    test("have one winner of a compare-and-swap, and one execution per idempotency key", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const race = Array.from({ length: 10 }, (_, i) =>
        store().append(acme, {
          sessionId: id,
          entries: [message(`${i}`)],
          expectedLeaf: null,
          now: T0,
        }),
      );
      const outcomes = await Promise.allSettled(race);
      expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
      const idempotency = { key: "k", requestHash: "00".repeat(32) };
      const same = await Promise.all(
        Array.from({ length: 10 }, () =>
          store().append(acme, { sessionId: id, entries: [message("x")], now: T0, idempotency }),
        ),
      );
      expect(same.filter((result) => !result.replayed)).toHaveLength(1);
      expect(new Set(same.map((result) => result.entries[0]?.id)).size).toBe(1);
    });

    test("add references to a payload while others release it", async () => {
      const acme = tenant();
      const large = "shared ".repeat(2_000);
      const sessions = await Promise.all(
        Array.from({ length: 12 }, () => createSession(store(), acme)),
      );
      await Promise.all(
        sessions.map(async ({ id }, i) => {
          await append(store(), acme, id, message(large));
          if (i % 2 === 0) await store().deleteSession(acme, id, "user", T0);
          else await store().sweep({ tenant: acme, now: T0, limit: 10 });
        }),
      );
      for (const { id } of sessions.filter((_, i) => i % 2 === 1)) {
        const page = await store().readEntries(acme, {
          select: "tree",
          sessionId: id,
          afterSequence: 0,
          limit: 1,
          payloads: true,
        });
        expect(page.payloads.size).toBe(1);
      }
    });
  });

  test("a read sees one snapshot, even while others delete its rows", async () => {
    const acme = tenant();
    const reader = await another();
    for (let round = 0; round < 15; round++) {
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message("x".repeat(9_999)), message("y".repeat(9_999)));
      const query = { select: "tree", sessionId: id, afterSequence: 0, limit: 9 } as const;
      const reads = Array.from({ length: 8 }, () =>
        reader.readEntries(acme, { ...query, payloads: true }),
      );
      const [outcomes] = await Promise.all([
        Promise.allSettled(reads),
        store().deleteSession(acme, id, "user", T0),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") expect(outcome.value.payloads.size).toBe(2);
        else expect(outcome.reason).toMatchObject({ code: "session_not_found" });
      }
    }
  });

  describe("closing", () => {
    test("completes calls in progress and refuses later ones", async () => {
      const { store: own } = await fresh();
      const { id } = await createSession(own, "a");
      const writes = Array.from({ length: 30 }, () => append(own, "a", id, message("x")));
      await own.close();
      const outcomes = await Promise.allSettled(writes);
      expect(outcomes.every((outcome) => outcome.status === "fulfilled")).toBe(true);
      await own.close();
      await expectCode(own.findSession("a", id), "store_closed");
      await expectCode(append(own, "a", id, message("x")), "store_closed");
    });
  });
}
