import { describe, expect, test } from "vitest";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  feedOf,
  message,
  NULL_FIELDS,
  newSession,
  nextId,
  T0,
} from "./fixture.cases.ts";

export function sessionCases({ store, tenant, another }: Cases): void {
  describe("createSession", () => {
    test("round-trips every field", async () => {
      const acme = tenant();
      const session = newSession({
        agent: "coder",
        createdBy: "ana",
        owner: "ben",
        title: "Ein Titel – ünïcode 😀",
        participants: ["ana", "ben", "ana"],
        metadata: { a: [1, 2, { b: null }] },
        ttl: 3_600,
        retention: "audit-only",
        origin: {
          source: "claude-code",
          workstation: "laptop",
          projectId: "p1",
          projectPath: "/home/ana/p1",
          gitBranch: "main",
          file: "/x/y.jsonl",
          key: "laptop/p1/1",
        },
        startedAt: T0 - 5_000,
        now: T0,
      });
      const created = await store().createSession(acme, session);
      expect(created).toEqual({
        ...NULL_FIELDS,
        id: session.id,
        shortId: expect.stringMatching(/^[0-9a-z]{8}$/),
        tenant: acme,
        agent: "coder",
        createdBy: "ana",
        createdAt: T0,
        owner: "ben",
        title: "Ein Titel – ünïcode 😀",
        participants: ["ana", "ben"],
        metadata: { a: [1, 2, { b: null }] },
        ttl: 3_600,
        retention: "audit-only",
        origin: session.origin,
        startedAt: T0 - 5_000,
        updatedAt: T0 - 5_000,
        lastInteractionAt: T0 - 5_000,
        lastWriteAt: T0,
        messageCount: 0,
        entryCount: 0,
        tokens: { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 },
      });
      expect(await store().findSession(acme, session.id)).toEqual(created);
      expect(await store().findSessionByOrigin(acme, "laptop/p1/1")).toEqual(created);
    });

    test("with `orExisting` gives the session that has the origin key, unchanged", async () => {
      const acme = tenant();
      const first = await createSession(store(), acme, {
        origin: { key: "a/b c" },
        title: "first",
      });
      const before = await store().feedHead(acme);
      const again = newSession({ origin: { key: "a/b c" }, title: "again", orExisting: true });
      expect(await store().createSession(acme, again)).toEqual(first);
      expect(await store().feedHead(acme)).toEqual(before);
      const other = newSession({ origin: { key: "a/b" }, title: "other", orExisting: true });
      expect((await store().createSession(acme, other)).id).toBe(other.id);
      const theirs = { ...again, id: nextId() };
      expect((await store().createSession(tenant(), theirs)).id).toBe(theirs.id);
    });

    test("creates one session per origin key for concurrent callers", async () => {
      const acme = tenant();
      const stores = [store(), await another()];
      const asked = Array.from({ length: 64 }, (_, i) =>
        stores[i % 2]?.createSession(
          acme,
          newSession({ origin: { key: "k" }, title: `${i}`, orExisting: true }),
        ),
      );
      const ids = new Set((await Promise.all(asked)).map((session) => session?.id));
      expect(ids.size).toBe(1);
      expect(await feedOf(store(), acme)).toEqual(["session_created"]);
      expect((await store().listSessions(acme, {}, { limit: 10 })).sessions).toHaveLength(1);
    });

    test("refuses a taken id or origin, without effect", async () => {
      const acme = tenant();
      const first = await createSession(store(), acme, { origin: { key: "k" }, title: "first" });
      await expectCode(createSession(store(), acme, { id: first.id }), "session_exists", {
        field: "id",
        value: first.id,
      });
      await expectCode(createSession(store(), acme, { origin: { key: "k" } }), "session_exists", {
        field: "origin key",
        value: "k",
      });
      expect(await store().findSession(acme, first.id)).toEqual(first);
      expect(await feedOf(store(), acme)).toEqual(["session_created"]);
    });

    test("distinguishes ids that differ in case only", async () => {
      const acme = tenant();
      const upper = await createSession(store(), acme, { id: "ABC" });
      const lower = await createSession(store(), acme, { id: "abc" });
      expect(await store().findSession(acme, "ABC")).toEqual(upper);
      expect(await store().findSession(acme, "abc")).toEqual(lower);
      expect(await store().findSession(acme, "Abc")).toBeUndefined();
    });

    test("executes a request once per idempotency key", async () => {
      const acme = tenant();
      const idempotency = { key: "create-1", requestHash: "aa".repeat(32) };
      const first = await createSession(store(), acme, { idempotency });
      const again = await createSession(store(), acme, { idempotency });
      expect(again).toEqual(first);
      expect(await feedOf(store(), acme)).toEqual(["session_created"]);
      await expectCode(
        createSession(store(), acme, {
          idempotency: { key: "create-1", requestHash: "bb".repeat(32) },
        }),
        "idempotency_conflict",
        { key: "create-1" },
      );
    });

    test("gives one session to concurrent callers with the same idempotency key", async () => {
      const acme = tenant();
      const idempotency = { key: "k", requestHash: "aa".repeat(32) };
      const all = await Promise.all(
        Array.from({ length: 10 }, () => createSession(store(), acme, { idempotency })),
      );
      expect(new Set(all.map((session) => session.id)).size).toBe(1);
      expect(await feedOf(store(), acme)).toEqual(["session_created"]);
    });

    test("succeeds for one of many concurrent callers with the same id", async () => {
      const acme = tenant();
      const id = nextId();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => createSession(store(), acme, { id })),
      );
      const failed = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(failed.map((outcome) => outcome.reason.code)).toEqual(
        Array.from({ length: 9 }, () => "session_exists"),
      );
    });
  });

  describe("updateSession", () => {
    test("changes the fields of the patch and no others", async () => {
      const acme = tenant();
      const before = await createSession(store(), acme, {
        title: "old",
        participants: ["ana"],
        metadata: { kept: 1, removed: 2, changed: 3 },
        ttl: 10,
      });
      const patch = {
        title: "new",
        owner: "ben",
        summary: "so far",
        metadata: { removed: null, changed: { deep: true }, added: [] },
        participants: ["zoe", "ana", "zoe"],
        ttl: null,
        retention: "ephemeral",
      } as const;
      const after = await store().updateSession(acme, before.id, patch, T0 + 7);
      expect(after).toEqual({
        ...before,
        title: "new",
        owner: "ben",
        summary: "so far",
        metadata: { kept: 1, changed: { deep: true }, added: [] },
        participants: ["zoe", "ana"],
        ttl: null,
        retention: "ephemeral",
        lastWriteAt: T0 + 7,
      });
      expect(await store().findSession(acme, before.id)).toEqual(after);
      const untouched = await store().updateSession(acme, before.id, {}, T0);
      expect(untouched).toEqual(after);
      const cleared = await store().updateSession(acme, before.id, { summary: null }, T0);
      expect(cleared.summary).toBeNull();
      const fields = Object.keys(patch).sort();
      expect(await feedOf(store(), acme, 1)).toEqual([
        ["session_updated", { fields }],
        ["session_updated", { fields: [] }],
        ["session_updated", { fields: ["summary"] }],
      ]);
    });

    test("merges concurrent patches of different metadata keys", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          store().updateSession(acme, id, { metadata: { [`key${i}`]: i } }, T0),
        ),
      );
      const session = await store().findSession(acme, id);
      expect(Object.keys(session?.metadata ?? {})).toHaveLength(8);
    });

    test("refuses unknown sessions", async () => {
      const acme = tenant();
      await createSession(store(), acme);
      await expectCode(
        store().updateSession(acme, "none", { title: "x" }, T0),
        "session_not_found",
      );
    });
  });

  test("a session is visible before its entries", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    const { leaf } = await append(store(), acme, id, message("one"), message("two"));
    expect(await store().findSession(acme, id)).toMatchObject({
      leaf,
      entryCount: 2,
      messageCount: 2,
    });
    expect(await store().findSession(acme, "none")).toBeUndefined();
    expect(await store().findSessionByOrigin(acme, "none")).toBeUndefined();
    expect(await store().findTombstone(acme, id)).toBeUndefined();
  });
}
