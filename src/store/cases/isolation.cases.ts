import { beforeAll, describe, expect, test } from "vitest";
import type { Store, StoreIndex, StoreReads, StoreWrites } from "../store.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  expectCode,
  label,
  message,
  messagesOf,
  newSession,
  nextId,
  T0,
} from "./fixture.cases.ts";
import { ingested, original } from "./ingest.cases.ts";
import { recordPut } from "./records.cases.ts";
import { newRoute } from "./routes.cases.ts";
import { newToken } from "./tokens.cases.ts";
import { runTrivial } from "./trivial-index.cases.ts";

const LARGE = "the same payload ".repeat(1_000);

/** Ids of one tenant's rows, which another tenant requests. */
interface Foreign {
  readonly session: string;
  readonly entry: string;
  readonly stream: string;
  readonly fact: string;
  readonly token: string;
  readonly key: string;
}

type Attempt = (store: Store, tenant: string, foreign: Foreign) => Promise<unknown>;

/**
 * A call of each method of the port by another tenant. A new method does not compile
 * without one.
 */
const ATTEMPTS: Record<keyof StoreWrites | keyof StoreReads | keyof StoreIndex, Attempt> = {
  createSession: async (store, tenant, { session }) => {
    const own = await store.createSession(tenant, newSession({ id: session, title: "own" }));
    expect(own).toMatchObject({ title: "own", entryCount: 0 });
    await store.deleteSession(tenant, session, "user", T0);
  },
  updateSession: (store, tenant, { session }) =>
    expectCode(store.updateSession(tenant, session, { title: "x" }, T0), "session_not_found"),
  deleteSession: (store, tenant, { session }) =>
    expectCode(store.deleteSession(tenant, session, "x", T0), "session_not_found"),
  append: async (store, tenant, { session, entry }) => {
    await expectCode(append(store, tenant, session, message("x")), "session_not_found");
    const own = await createSession(store, tenant);
    const onto = append(store, tenant, own.id, message("x", { parentId: entry }));
    await expectCode(onto, "entry_not_found");
    const over = append(store, tenant, own.id, message("x", { supersedes: entry }));
    await expectCode(over, "entry_not_found");
  },
  moveLeaf: async (store, tenant, { session, entry }) => {
    const move = (sessionId: string, leaf: string | null) =>
      store.moveLeaf(tenant, { sessionId, leaf, now: T0 });
    await expectCode(move(session, null), "session_not_found");
    const own = await createSession(store, tenant);
    await expectCode(move(own.id, entry), "entry_not_found");
  },
  setPinned: async (store, tenant, { session, entry }) => {
    await expectCode(store.setPinned(tenant, session, entry, true, T0), "session_not_found");
    const own = await createSession(store, tenant);
    await expectCode(store.setPinned(tenant, own.id, entry, true, T0), "entry_not_found");
  },
  forkSession: (store, tenant, { session, entry }) => {
    const request = { sessionId: session, through: entry, session: newSession() };
    return expectCode(store.forkSession(tenant, request), "session_not_found");
  },
  eraseContent: async (store, tenant, { session, entry }) => {
    const erase = (sessionId: string) =>
      store.eraseContent(tenant, { sessionId, entryIds: [entry], mode: "ephemeral", now: T0 });
    await expectCode(erase(session), "session_not_found");
    const own = await createSession(store, tenant);
    expect(await erase(own.id)).toEqual({ erased: 0 });
  },
  openStream: (store, tenant, { session }) =>
    expectCode(store.openStream(tenant, stream(session)), "session_not_found"),
  writeStream: (store, tenant, { stream: id }) => {
    const request = { id, holder: "me", chunks: '["x"]', leaseMs: 1, now: T0 };
    return expectCode(store.writeStream(tenant, request), "entry_not_found");
  },
  commitStream: async (store, tenant, { session, stream: id }) => {
    const request = { ...stream(session), id, chunks: '["x"]', usage: null };
    await expectCode(store.commitStream(tenant, request), "session_not_found");
    const own = await createSession(store, tenant);
    const moved = store.commitStream(tenant, { ...request, sessionId: own.id });
    await expectCode(moved, "entry_not_found");
  },
  abortStream: (store, tenant, { stream: id }) => {
    const request = { id, chunks: null, reason: "x", now: T0 };
    return expectCode(store.abortStream(tenant, request), "entry_not_found");
  },
  putMemory: async (store, tenant) => {
    const note = { agent: "coder", name: "secret", content: "own", metadata: {}, now: T0 };
    await store.putMemory(tenant, note);
    await store.deleteMemory(tenant, "coder", "secret", T0);
  },
  deleteMemory: (store, tenant) =>
    expectCode(store.deleteMemory(tenant, "coder", "secret", T0), "memory_not_found"),
  addFacts: (store, tenant, { session }) =>
    expectCode(store.addFacts(tenant, session, [], T0), "session_not_found"),
  retireFact: (store, tenant, { fact }) =>
    expectCode(store.retireFact(tenant, fact, null, T0), "fact_not_found"),
  writeRecords: async (store, tenant) => {
    const gone = { namespace: "n", key: "secret", put: null };
    const deleted = store.writeRecords(tenant, { operations: [gone], now: T0 });
    await expectCode(deleted, "record_not_found");
    const seen = { ...recordPut("n", "secret", "own"), expectedVersion: null };
    await store.writeRecords(tenant, { operations: [seen], now: T0 });
    await store.writeRecords(tenant, { operations: [gone], now: T0 });
  },
  putIngestedFiles: async (store, tenant) => {
    await store.putIngestedFiles(tenant, "w", [ingested("/a", { size: 2 })], T0);
    const own = await store.findIngestedFiles(tenant, "w", ["/a"]);
    expect(own).toMatchObject([{ size: 2 }]);
  },
  putOriginal: async (store, tenant, { session }) => {
    await expectCode(
      store.putOriginal(tenant, "w", original("/a", { sessionIds: [session] }), T0),
      "session_not_found",
    );
    await store.putOriginal(tenant, "w", original("/a", { size: 2, sessionIds: [] }), T0);
    expect(await store.listOriginals(tenant, { limit: 9 })).toMatchObject([{ size: 2 }]);
  },
  setQuota: (store, tenant) =>
    store.setQuota(tenant, { maxSessions: 99, maxEntries: 99, maxContentBytes: 99 }, T0),
  noteAct: (store, tenant) => store.noteAct(tenant, "backup", T0),
  createToken: async (store, tenant) => {
    const { id } = await store.createToken(tenant, newToken());
    expect((await store.findToken(id))?.token.tenant).toBe(tenant);
  },
  revokeToken: (store, tenant, { token }) =>
    expectCode(store.revokeToken(tenant, token, T0), "token_not_found"),
  putRoute: async (store, tenant, { session, key }) => {
    const route = newRoute({ key, sessionId: session });
    await expectCode(store.putRoute(tenant, route), "session_not_found");
    expect((await store.putRoute(tenant, newRoute({ key }))).version).toBe(1);
  },
  patchRoute: (store, tenant, { key }) =>
    expectCode(
      store.patchRoute(tenant, { key, fields: { mine: 1 }, now: T0 }),
      "session_key_not_found",
    ),
  deleteRoute: (store, tenant, { key }) =>
    expectCode(store.deleteRoute(tenant, key, T0), "session_key_not_found"),
  takeLease: async (store, tenant) => expect(await store.takeLease(tenant, "x", 1)).toBe(true),
  dropLease: async (store, tenant) => expect(await store.dropLease(tenant, "x")).toBeUndefined(),
  sweep: async (store, tenant) => {
    const swept = await store.sweep({ tenant, now: T0 + 10 ** 9, limit: 100 });
    expect(swept).toMatchObject({ deletedSessions: [], abortedMessages: [], collectedBlobs: 0 });
  },
  findSession: async (store, tenant, { session }) =>
    expect(await store.findSession(tenant, session)).toBeUndefined(),
  readUsage: async (store, tenant, { session }) =>
    expect(await store.readUsage(tenant, [session])).toEqual([]),
  countModels: async (store, tenant, { session }) =>
    expect(await store.countModels(tenant, [session])).toEqual([]),
  findSessionRefs: async (store, tenant, { session }) =>
    expect(await store.findSessionRefs(tenant, session)).toEqual([]),
  findSessionByOrigin: async (store, tenant) =>
    expect(await store.findSessionByOrigin(tenant, "origin")).toBeUndefined(),
  listSessions: async (store, tenant, { session }) => {
    const { sessions } = await store.listSessions(tenant, { participant: "ana" }, { limit: 100 });
    expect(sessions.map((each) => each.id)).not.toContain(session);
  },
  findTombstone: async (store, tenant) =>
    expect(await store.findTombstone(tenant, "deleted")).toBeUndefined(),
  findTombstoneByOrigin: async (store, tenant) =>
    expect(await store.findTombstoneByOrigin(tenant, "deleted origin")).toBeUndefined(),
  findIngestedFiles: async (store, tenant) =>
    expect(await store.findIngestedFiles(tenant, "w", ["/a"])).toEqual([]),
  listOriginals: async (store, tenant, { session }) => {
    expect(await store.listOriginals(tenant, { limit: 9 })).toEqual([]);
    await expectCode(
      store.listOriginals(tenant, { sessionId: session, limit: 9 }),
      "session_not_found",
    );
  },
  readOriginalPart: async (store, tenant) =>
    expect(await store.readOriginalPart(tenant, "w", "/a", 0)).toBeUndefined(),
  readEntries: async (store, tenant, { session, entry }) => {
    await expectCode(messagesOf(store, tenant, session), "session_not_found");
    const own = await createSession(store, tenant);
    await expectCode(messagesOf(store, tenant, own.id, entry), "entry_not_found");
  },
  findEntries: async (store, tenant, { entry }) =>
    expect((await store.findEntries(tenant, [entry], true)).entries).toEqual([]),
  findUsage: async (store, tenant, { entry }) =>
    expect(await store.findUsage(tenant, [entry])).toEqual([]),
  findPending: async (store, tenant, { stream: id }) =>
    expect(await store.findPending(tenant, id)).toBeUndefined(),
  listLeaves: (store, tenant, { session }) =>
    expectCode(store.listLeaves(tenant, session, 10), "session_not_found"),
  listRetentionDue: async (store, tenant, { session }) => {
    expect(await store.listRetentionDue(tenant, { sessionId: session })).toEqual([]);
    expect(await store.listRetentionDue(tenant, { limit: 100 })).toEqual([]);
  },
  readRecords: async (store, tenant) => {
    const places = [{ namespace: "n", key: "secret" }];
    const none = { records: [], more: false };
    for (const which of [places, { prefix: "", limit: 9, maxBytes: 9 }]) {
      expect(await store.readRecords(tenant, { which, now: T0, parts: "all" })).toEqual(none);
    }
  },
  findMemory: async (store, tenant) =>
    expect(await store.findMemory(tenant, "coder", "secret")).toBeUndefined(),
  listMemories: async (store, tenant) => {
    expect(await store.listMemories(tenant, undefined, undefined, 10)).toEqual([]);
    expect(await store.listMemories(tenant, "coder", undefined, 10)).toEqual([]);
  },
  findFact: async (store, tenant, { fact }) =>
    expect(await store.findFact(tenant, fact)).toBeUndefined(),
  listFacts: async (store, tenant, { session }) => {
    expect(await store.listFacts(tenant, undefined, undefined, 10, true)).toEqual([]);
    await expectCode(store.listFacts(tenant, session, undefined, 10, true), "session_not_found");
  },
  findToken: async (store, tenant, { token }) =>
    // A token is found without a tenant, because it identifies its tenant.
    expect((await store.findToken(token))?.token.tenant).not.toBe(tenant),
  listTokens: async (store, tenant) =>
    expect(await store.listTokens(tenant, undefined, 10)).toEqual([]),
  readSessionSizes: async (store, tenant, { session }) =>
    expect(await store.readSessionSizes(tenant, [session])).toEqual([]),
  findRoute: async (store, tenant, { key }) =>
    expect(await store.findRoute(tenant, key)).toBeUndefined(),
  listRoutes: async (store, tenant) =>
    expect(await store.listRoutes(tenant, undefined, 10)).toEqual([]),
  listRouteSessions: async (store, tenant, { key }) =>
    expect(await store.listRouteSessions(tenant, key, undefined, 10)).toEqual([]),
  listSessionRoutes: async (store, tenant, { session }) =>
    expect(await store.listSessionRoutes(tenant, session, 10)).toEqual([]),
  feedHead: async (store, tenant) => {
    const { position } = await store.feedHead(tenant);
    expect(position).toBe((await changesOf(store, tenant)).length);
  },
  listChanges: async (store, tenant, { session, entry }) => {
    expect(await changesOf(store, tenant, "deleted")).toEqual([]);
    const entries = (await changesOf(store, tenant)).map((change) => change.entryId);
    expect(entries).not.toContain(entry);
    const ids = (await changesOf(store, tenant)).map((change) => change.details ?? "");
    expect(ids.join()).not.toContain(session);
  },
  indexStatus: async (store, tenant) =>
    expect((await store.indexStatus(tenant)).head).toBe((await changesOf(store, tenant)).length),
  search: async (store, tenant, { session }) =>
    expect(JSON.stringify(await runTrivial(store, tenant))).not.toContain(session),
  searchNotes: async (store, tenant, { session }) =>
    expect(JSON.stringify(await runTrivial(store, tenant))).not.toContain(session),
  findSessionsWithText: async (store, tenant, { session }) =>
    expect(JSON.stringify(await runTrivial(store, tenant))).not.toContain(session),
  findLines: async (store, tenant, { session }) =>
    expect(JSON.stringify(await runTrivial(store, tenant))).not.toContain(session),
  readPieces: async (store, tenant, { session }) =>
    expect(JSON.stringify(await runTrivial(store, tenant))).not.toContain(session),
  maintain: async (store, tenant) =>
    expect(await store.maintain(tenant, "maintain")).toMatchObject({ busy: false, more: false }),
  listTenants: async (store, tenant) =>
    expect((await store.listTenants()).filter((name) => name === tenant).length).toBeLessThan(2),
  status: async (store, tenant) => {
    const own = (await store.status()).tenants.find((each) => each.tenant === tenant);
    expect(own ?? { facts: 0, memories: 0, pending: 0 }).toMatchObject({
      facts: 0,
      memories: 0,
      pending: 0,
    });
  },
  checkIntegrity: async (store) => expect(await store.checkIntegrity()).toEqual([]),
};

export function isolationCases({ store, tenant }: Cases): void {
  describe("another tenant", () => {
    const acme = tenant();
    let foreign: Foreign;
    let before: unknown;

    beforeAll(async () => {
      foreign = await fill(store(), acme);
      before = await contents(acme, foreign);
    });

    test.each(Object.entries(ATTEMPTS))("is not seen by %s", async (_, attempt) => {
      const known = tenant();
      await createSession(store(), known);
      await attempt(store(), known, foreign);
      // Also from a tenant without rows.
      await attempt(store(), tenant(), foreign);
      expect(await contents(acme, foreign)).toEqual(before);
    });
  });

  async function contents(acme: string, { session, stream: id }: Foreign): Promise<unknown> {
    return [
      await store().findSession(acme, session),
      await messagesOf(store(), acme, session),
      await store().findPending(acme, id),
      await store().findMemory(acme, "coder", "secret"),
      await store().readRecords(acme, {
        which: [{ namespace: "n", key: "secret" }],
        now: T0,
        parts: "all",
      }),
      await store().listFacts(acme, session, undefined, 10, true),
      await changesOf(store(), acme),
      await store().findIngestedFiles(acme, "w", ["/a"]),
      await store().listOriginals(acme, { limit: 9 }),
      await store().readOriginalPart(acme, "w", "/a", 0),
      await store().listTokens(acme, undefined, 10),
      await store().listRoutes(acme, undefined, 10),
    ];
  }
}

/** A tenant with rows in every table. */
async function fill(store: Store, tenant: string): Promise<Foreign> {
  const { id } = await createSession(store, tenant, {
    origin: { key: "origin" },
    ttl: 1,
    retention: "audit-only",
  });
  const { ids } = await append(store, tenant, id, message("hello"), message(LARGE));
  const entry = ids[0] ?? "";
  await append(store, tenant, id, label("mark", entry));
  await append(store, tenant, id, message("so far", { kind: "compaction", role: null }));
  const opened = await store.openStream(tenant, stream(id));
  const note = { agent: "coder", name: "secret", content: "x", metadata: {}, now: T0 };
  await store.putMemory(tenant, note);
  const secret = recordPut("n", "secret", "theirs", { text: "hello" });
  await store.writeRecords(tenant, { operations: [secret], now: T0 });
  const fact = { id: nextId(), subject: "a", predicate: "b", object: "c", confidence: 1 };
  const facts = [{ ...fact, sessionId: id, sourceEntry: entry, createdAt: T0 }];
  await store.addFacts(tenant, id, facts, T0);
  await createSession(store, tenant, { id: "deleted", origin: { key: "deleted origin" } });
  await store.deleteSession(tenant, "deleted", "user", T0);
  await store.putIngestedFiles(tenant, "w", [ingested("/a")], T0);
  await store.putOriginal(tenant, "w", original("/a", { sessionIds: [id] }), T0);
  const token = await store.createToken(tenant, newToken());
  const { key } = await store.putRoute(tenant, newRoute({ sessionId: id }));
  return { session: id, entry, stream: opened.id, fact: fact.id, token: token.id, key };
}

function stream(sessionId: string) {
  return {
    sessionId,
    id: nextId(),
    role: "assistant",
    actor: null,
    metadata: null,
    model: null,
    adapter: null,
    holder: "me",
    leaseMs: -1_000,
    now: T0,
  } as const;
}
