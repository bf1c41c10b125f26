import { describe, expect, test } from "vitest";
import { Engine } from "../engine/engine.ts";
import { Routes } from "../engine/routes/routes.ts";
import type { SearchInput } from "../engine/search.ts";
import { SessionHandle } from "../engine/session-handle.ts";
import type { ListSessionsInput } from "../engine/sessions/list-sessions.ts";
import { TenantEngine } from "../engine/tenant-engine.ts";
import { serveStore } from "./client.cases.ts";
import { RemoteCalls } from "./plain-calls.ts";
import { RemoteEngine } from "./remote-engine.ts";
import { RemoteRoutes } from "./remote-parts.ts";
import { RemoteSession } from "./remote-session.ts";
import { RemoteTenant } from "./remote-tenant.ts";

/** Compares the client with the library on the same store. */

/** The methods that a class has by hand, and those of its table. */
function namesOf(type: { readonly prototype: object }): string[] {
  const parent = Object.getPrototypeOf(type.prototype) as object;
  const plain = Object.getPrototypeOf(parent) === RemoteCalls.prototype ? parent : {};
  const names = [type.prototype, plain].flatMap((each) => Object.getOwnPropertyNames(each));
  return [...new Set(names)].sort();
}

/** Calls that need the store itself. */
const ONLY_HERE = [
  "acceptLosses",
  "authenticate",
  "checkSettings",
  "connections",
  "deleteTenant",
  "dump",
  "embedStored",
  "estimateEmbedding",
  "holdLease",
  "indexSetting",
  "listTenants",
  "openShare",
  "searches",
  "setIndexing",
];
/**
 * Functions of `backscroll` and `backscroll/gateway` for a local store, and calls that only servers
 * have.
 */
const ONLY_THERE = [
  "backup",
  "maintainSessions",
  "outlineSession",
  "resumeCommand",
  "review",
  "sessionStatus",
  "export",
  "recapSessions",
  "relatedSessions",
  "traceWork",
  "blameWork",
  "digestWork",
];

function withoutThere(names: readonly string[]): string[] {
  return names.filter((name) => !ONLY_THERE.includes(name)).sort();
}

describe("the client has the names of the library", () => {
  test("for sessions, without leases", () => {
    expect(withoutThere([...namesOf(RemoteSession), "holdLease"])).toEqual(namesOf(SessionHandle));
  });

  test("for a tenant; its name is a plain property", () => {
    const ofHosts = [
      "findLines",
      "findSessionsWithText",
      "noteAct",
      "owned",
      "resolveSessionId",
      "sessionSizes",
      "textModel",
    ];
    const names = [...namesOf(RemoteTenant), "tenant", ...ofHosts];
    expect(withoutThere(names)).toEqual(namesOf(TenantEngine));
  });

  test("for session keys", () => {
    expect(namesOf(RemoteRoutes)).toEqual(namesOf(Routes));
  });

  test("for a store, without the names of other tenants", () => {
    expect(withoutThere([...namesOf(RemoteEngine), ...ONLY_HERE])).toEqual(namesOf(Engine));
  });
});

describe("a tenant over the network", () => {
  test("creates sessions with all fields, and lists them by page", async () => {
    const { engine, remote } = await serveStore();
    const session = await remote.createSession({
      agent: "coder",
      createdBy: "ana",
      owner: "ben",
      title: "Cron",
      id: "a:b_c-1",
      participants: ["ana", "eve"],
      metadata: { snake_case: { camelCase: 1 } },
      ttl: 60,
      retention: "audit-only",
      startedAt: new Date(5_000),
      origin: { projectPath: "/p", gitBranch: "main", key: "k:1" },
    });
    const stored = await engine.getSessionMeta("a:b_c-1");
    expect(await session.meta()).toStrictEqual(stored);
    expect(stored).toMatchObject({ startedAt: 5_000, owner: "ben", ttl: 60 });
    expect(await remote.findSessionByOrigin("k:1")).toStrictEqual(stored);
    expect(await remote.findSessionByOrigin("k:2")).toBeUndefined();

    for (let i = 0; i < 5; i++) await remote.createSession({ agent: "b", createdBy: "ana" });
    const first = await remote.listSessions({ limit: 4 });
    const cursor = first.nextCursor ?? "";
    expect(first).toStrictEqual(await engine.listSessions({ limit: 4 }));
    expect(await remote.listSessions({ cursor })).toStrictEqual(
      await engine.listSessions({ cursor }),
    );
    const { id: made } = await remote.createSession({
      agent: "b",
      createdBy: "ana",
      metadata: { machineMade: true },
    });
    const idsOf = async (input: ListSessionsInput) =>
      (await remote.listSessions(input)).sessions.map(({ id }) => id);
    expect(await idsOf({})).not.toContain(made);
    expect(await idsOf({ machineMade: true })).toContain(made);
    for (const filter of [
      { machineMade: true },
      { machineMade: false },
      { agent: "coder" },
      { owner: "ben" },
      { participant: "eve" },
      { title: "cro" },
      { since: 1 },
      { until: new Date(1) },
      { parentSessionId: "none" },
    ]) {
      expect(await remote.listSessions(filter)).toStrictEqual(await engine.listSessions(filter));
    }
  });

  test("searches with every option, and explains scores", async () => {
    const { engine, remote } = await serveStore();
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    await session.append([
      { role: "user", actor: "ana", content: "Why does the cron job run twice?" },
      {
        role: "assistant",
        content: "The cron lock is gone.",
        toolCalls: [{ id: "1", name: "ls" }],
      },
    ]);
    const options: SearchInput = {
      agent: ["coder", "other"],
      role: "user",
      since: 0,
      until: new Date("2100-01-01"),
      match: "all",
      branches: "all",
      limit: 5,
      perSession: 2,
      contextBefore: 1,
      contextAfter: 0,
      explain: true,
      deadlineMs: 10_000,
      ranking: {
        title: 4,
        candidates: 7,
        bm25: { k1: 1, b: 0.5 },
        passage: { k1: 2, b: 0.1 },
        roles: { user: 3, tool: 1, assistant: 1, system: 0 },
      },
    };
    const found = await remote.searchSessions("cron job", options);
    expect(found.hits).toHaveLength(1);
    expect(found).toStrictEqual(await engine.searchSessions("cron job", options));
    const patient = { deadlineMs: 10_000 };
    expect(await remote.searchSessions("cron", patient)).toStrictEqual(
      await engine.searchSessions("cron", patient),
    );
    expect((await session.searchOthers("cron", { excludeSession: "x" })).hits).toEqual([]);
  });

  test("stores memories and facts under any name, and finds them by long texts", async () => {
    const { engine, remote } = await serveStore();
    const memory = await remote.putMemory({
      agent: "a/b",
      name: "how to: deploy?",
      content: "Migrate first.",
      metadata: { n: 1 },
    });
    expect(memory).toStrictEqual(await engine.getMemory("a/b", "how to: deploy?"));
    expect(await remote.getMemory("a/b", "how to: deploy?")).toStrictEqual(memory);
    await remote.putMemory({ agent: "b", name: "x", content: "y" });
    expect(await remote.listMemories({ limit: 1 })).toStrictEqual([memory]);
    expect(await remote.listMemories({ after: memory })).toStrictEqual(
      await engine.listMemories({ after: memory }),
    );
    const long = `migrate ${"é".repeat(7_000)}`;
    expect(await remote.searchMemory(long, { agent: "a/b" })).toStrictEqual([memory]);
    await remote.deleteMemory("b", "x");
    expect(await engine.listMemories()).toStrictEqual([memory]);

    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    const [fact, other] = await session.addFacts([
      { subject: "ana", predicate: "likes", object: "tea", confidence: 0.5 },
      { subject: "ana", predicate: "likes", object: "mate" },
    ]);
    if (fact === undefined || other === undefined) throw new Error("no facts");
    expect(await remote.getFact(fact.id)).toStrictEqual(await engine.getFact(fact.id));
    expect(await remote.searchFacts("tea")).toStrictEqual([fact]);
    await remote.supersedeFact(fact.id, other.id);
    expect(await session.listFacts()).toStrictEqual([other]);
    expect(await remote.listFacts({ superseded: true })).toHaveLength(2);
    await remote.deleteFact(other.id);
    await expect(remote.getFact("nobody")).rejects.toMatchObject({ code: "fact_not_found" });
    expect(await session.remember("tea", "She likes it.")).toMatchObject({ agent: "coder" });
    expect(await session.searchMemory("likes")).toHaveLength(1);
  });

  test("deletes with derived data, and finds the tombstone", async () => {
    const { engine, remote } = await serveStore();
    const session = await remote.createSession({
      agent: "coder",
      createdBy: "ana",
      origin: { key: "k" },
    });
    await session.append({ role: "user", content: "hi" });
    const fork = await session.fork({ createdBy: "ben" });
    expect(await remote.listDerived(session.id)).toStrictEqual(
      await engine.listDerived(session.id),
    );
    expect((await remote.listSessions({ parentSessionId: session.id })).sessions).toHaveLength(1);
    const tombstone = await session.delete({ cascade: true });
    expect(tombstone).toStrictEqual(await engine.findTombstone(session.id));
    expect(await remote.findTombstone(fork.id)).toMatchObject({ reason: "cascade" });
    expect(await remote.findTombstoneByOrigin("k")).toStrictEqual(tombstone);
    expect(await remote.findTombstone("nobody")).toBeUndefined();
  });

  test("maintains the store, and reports its contents", async () => {
    const { engine, remote } = await serveStore();
    expect(await remote.tenantStatus()).toBeUndefined();
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content: "hi" });
    await remote.setQuota({ maxSessions: 1 });
    expect(await remote.tenantStatus()).toStrictEqual(await engine.tenantStatus());
    await expect(remote.createSession({ agent: "a", createdBy: "b" })).rejects.toMatchObject({
      code: "quota_exceeded",
      details: { limit: 1 },
    });
    expect((await remote.maintainIndex("flush")).segments).toBe(1);
    expect(await remote.indexStatus()).toStrictEqual(await engine.indexStatus());
    expect(await remote.sweep()).toStrictEqual(await engine.sweep());
    expect(await remote.sweepAll()).toStrictEqual(await engine.sweepAll());
    expect(await remote.status()).toStrictEqual(await engine.status());
    expect(await remote.checkIntegrity()).toEqual([]);
    const report = await remote.verify();
    expect(report).toStrictEqual(await engine.verify());
    expect((await remote.verify({ head: "0".repeat(64) })).ok).toBe(false);
  });

  test("stores read positions of files", async () => {
    const { engine, remote } = await serveStore();
    const file = {
      path: "/p/ö.jsonl",
      source: "pi",
      size: 9,
      mtimeUs: 1_700_000_000_000_123,
      offset: 8,
      lines: 2,
      tailHash: new Uint8Array([0, 255, 7]),
      state: '{"a":1}',
      seenAt: 5,
    };
    await remote.putIngestedFiles("laptop", [file]);
    const found = await remote.findIngestedFiles("laptop", ["/p/ö.jsonl", "/p/none"]);
    expect(found).toEqual([file]);
    expect(await engine.findIngestedFiles("laptop", [file.path])).toEqual([file]);
  });

  test("stores the bytes of files", async () => {
    const { engine, remote } = await serveStore();
    const session = await engine.createSession({ agent: "a", createdBy: "b" });
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const update = {
      path: "/p/ö.jsonl",
      source: "pi",
      reader: 1,
      size: 256,
      mtimeUs: 5,
      from: 0,
      sessionIds: [session.id],
      parts: [{ start: 0, size: 256, bytes }],
    };
    expect(await remote.originals.put("laptop", update)).toBe(true);
    const listed = await remote.originals.list({ sessionId: session.id });
    expect(listed).toEqual(await engine.originals.list());
    const [after] = listed;
    if (after === undefined) throw new Error("there is no original");
    expect(await remote.originals.list({ after, limit: 1 })).toEqual([]);
    expect(listed).toMatchObject([{ workstation: "laptop", parts: [{ start: 0, size: 256 }] }]);
    const read = await remote.originals.readPart("laptop", "/p/ö.jsonl", 0);
    expect(Buffer.from(read ?? [])).toEqual(Buffer.from(bytes));
    expect(await remote.originals.readPart("laptop", "/p/ö.jsonl", 1)).toBeUndefined();
  });

  test("pages through the feed, also of a deleted session", async () => {
    const { engine, remote } = await serveStore();
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content: "hi", usage: { inputTokens: 5 }, model: "m" });
    const page = await remote.listChanges({ limit: 1 });
    expect(page).toStrictEqual(await engine.listChanges({ limit: 1 }));
    expect(await remote.listChanges({ after: page.next })).toStrictEqual(
      await engine.listChanges({ after: page.next }),
    );
    expect(await remote.listChanges({ after: "end" })).toMatchObject({ changes: [], end: true });
    await session.delete();
    const input = { session: session.id };
    expect((await remote.listChanges(input)).changes).toStrictEqual(
      (await engine.listChanges(input)).changes,
    );
  });

  test("is the token's tenant", async () => {
    const { remote } = await serveStore({ tenant: "acme" });
    expect(remote.tenant).toBe("acme");
    expect(remote.forTenant("acme").tenant).toBe("acme");
    expect(() => remote.forTenant("default")).toThrow(
      expect.objectContaining({ code: "forbidden", message: expect.stringContaining("acme") }),
    );
  });
});
