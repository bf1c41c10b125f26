import { describe, expect, test } from "vitest";
import type { Row, RowBatch } from "../records.ts";
import type { Store } from "../store.ts";
import { TABLES } from "../tables.ts";
import { verified } from "./feed.cases.ts";
import {
  append,
  batches,
  type Cases,
  changesOf,
  createSession,
  dumpOf,
  expectCode,
  label,
  message,
  messagesOf,
  NULL_FIELDS,
  newSession,
  nextId,
  T0,
  tablesOf,
  treeOf,
} from "./fixture.cases.ts";
import { ingested, original } from "./ingest.cases.ts";
import { recordPut } from "./records.cases.ts";
import { newRoute } from "./routes.cases.ts";
import { newToken } from "./tokens.cases.ts";

export function dumpCases({ fresh }: Cases): void {
  describe("a dump", () => {
    test("fills an empty store with the same rows, atomically, under a new epoch", async () => {
      const { store: from } = await fresh();
      const { id } = await fillAll(from);
      const dump = await dumpOf(from);
      expect(Object.keys(dump).sort()).toEqual([...TABLES].sort());
      const { store: to } = await fresh();
      const { epoch } = await to.feedHead("a");
      await expect(to.load(torn(from))).rejects.toThrow("interrupted");
      expect(await to.listTenants()).toEqual([]);
      expect(await dumpOf(to)).toEqual({});
      expect((await to.feedHead("a")).epoch).toBe(epoch);

      await to.load(from.dump());
      expect(await dumpOf(to)).toEqual(dump);
      const epochs = await Promise.all([from, to].map((store) => store.feedHead("a")));
      expect(new Set([epoch, ...epochs.map((head) => head.epoch)]).size).toBe(3);
      await expectCode(to.load(from.dump()), "store_not_empty");
      expect(await dumpOf(to)).toEqual(dump);

      await append(to, "a", id, message("more"));
      await createSession(to, "a");
      await createSession(to, "new");
      expect((await messagesOf(to, "a", id)).at(-1)).toBe("more");
      const changes = await changesOf(to, "a");
      const head = await to.feedHead("a");
      expect(changes.map((change) => change.position)).toEqual(changes.map((_, i) => i + 1));
      expect(verified(changes)).toEqual(Buffer.from(head.hash));
      expect(await to.checkIntegrity()).toEqual([]);
    });

    test("holds the rows of one snapshot", async () => {
      const { store: own } = await fresh();
      const { id } = await fillAll(own);
      const before = await dumpOf(own);
      const write = async () => {
        await append(own, "a", id, message("later"), message("x".repeat(9_999)));
        await createSession(own, "later");
      };
      expect(await tablesOf(interrupted(own, write))).toEqual(before);
      expect(await dumpOf(own)).not.toEqual(before);
    });
  });

  describe("rows of another version", () => {
    test("get defaults for missing columns; unknown columns are dropped", async () => {
      const { store: own } = await fresh();
      await own.load(batches(...OLD_ROWS));
      expect(await own.findSession("a", "s")).toEqual({
        ...NULL_FIELDS,
        id: "s",
        shortId: "s",
        tenant: "a",
        agent: "coder",
        createdBy: "ana",
        createdAt: T0,
        owner: "ana",
        title: "",
        participants: [],
        metadata: {},
        retention: "full",
        origin: {},
        startedAt: T0,
        updatedAt: T0,
        lastInteractionAt: T0,
        lastWriteAt: T0,
        messageCount: 0,
        entryCount: 0,
        tokens: { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 },
      });
      expect((await own.listSessions("a", { title: "x" }, { limit: 9 })).sessions).toEqual([]);
      expect(await own.findMemory("a", "coder", "n")).toMatchObject({ content: "x", metadata: {} });
      await append(own, "a", "s", message("on"));
      expect(await messagesOf(own, "a", "s")).toEqual(["on"]);
      expect(await treeOf(own, "a", "of the future")).toMatchObject([
        {
          kind: "hologram",
          role: null,
          usage: null,
          metadata: null,
          content: null,
          pinned: false,
          nonce: null,
        },
      ]);
      expect(await messagesOf(own, "a", "of the future")).toEqual([]);
    });
  });
}

const TIMES: Row = { updated_at: T0, last_interaction_at: T0, last_write_at: T0 };
const WHO: Row = { agent: "coder", created_by: "ana", owner: "ana", created_at: T0 };

/** Only columns that every version has, and some unknown ones. */
const OLD_ROWS: readonly RowBatch[] = [
  {
    table: "tenants",
    rows: [{ tenant: 1, name: "a", created_at: T0, feed_hash: Buffer.alloc(32), future: 1 }],
  },
  {
    table: "sessions",
    rows: [
      { tenant: 1, session: 1, id: "s", ...WHO },
      { tenant: 1, session: 2, id: "of the future", ...WHO },
    ],
  },
  {
    table: "session_state",
    rows: [
      { tenant: 1, session: 1, last_sequence: 0, ...TIMES },
      { tenant: 1, session: 2, last_sequence: 1, ...TIMES },
    ],
  },
  {
    table: "entries",
    rows: [
      {
        tenant: 1,
        session: 2,
        sequence: 1,
        id: nextId(),
        chain: 0,
        depth: 0,
        ordinal: 0,
        kind: "hologram",
        status: "committed",
        created_at: T0,
        content_bytes: 0,
        hash: Buffer.alloc(32, 1),
      },
    ],
  },
  {
    table: "memories",
    rows: [
      {
        tenant: 1,
        agent: "coder",
        name: "n",
        content: Buffer.from('"x"'),
        created_at: T0,
        updated_at: T0,
      },
    ],
  },
  { table: "unheard_of", rows: [{ x: 1 }] },
];

/** A dump that runs `action` after its first batch. */
async function* interrupted(store: Store, action: () => Promise<void>): AsyncGenerator<RowBatch> {
  let isFirst = true;
  for await (const batch of store.dump()) {
    yield batch;
    if (isFirst) await action();
    isFirst = false;
  }
}

/** Fails in the middle of a dump. */
async function* torn(from: Store): AsyncGenerator<RowBatch> {
  for await (const batch of from.dump()) {
    if (batch.table === "streams") throw new Error("interrupted");
    yield batch;
  }
}

/** Writes at least one row into every table, for `tenant` and for another one. */
export async function fillAll(store: Store, tenant = "a"): Promise<{ id: string }> {
  const idempotency = { key: "k", requestHash: "0f".repeat(32) };
  const { id } = await createSession(store, tenant, {
    title: "Tïtle",
    participants: ["ana"],
    metadata: JSON.parse('{"__proto__":1,"lone":"\\ud800"}'),
    origin: { source: "codex", key: "origin" },
    ttl: 10 ** 9,
    idempotency,
  });
  const { ids } = await append(store, tenant, id, message("1"), message("x".repeat(20_000)));
  await append(
    store,
    tenant,
    id,
    message("2b", { parentId: ids[0] ?? "" }),
    label("l", ids[0] ?? ""),
  );
  await store.forkSession(tenant, { sessionId: id, session: newSession() });
  const stream = { sessionId: id, id: nextId(), holder: "me", leaseMs: 99_999, now: T0 };
  const who = { role: "tool", actor: "x", metadata: "{}", model: null, adapter: "y" } as const;
  await store.openStream(tenant, { ...stream, ...who });
  await store.writeStream(tenant, { ...stream, chunks: '["chunk \\ud800"]' });
  await store.putMemory(tenant, {
    agent: "g",
    name: "n",
    content: "\0\ud800",
    metadata: {},
    now: T0,
  });
  const records = [
    recordPut("r", "bytes", Uint8Array.of(0, 1, 255), { expiresAt: T0 + 9 }),
    recordPut("r", "json", "\ud800", { text: "\0\ud800" }),
  ];
  await store.writeRecords(tenant, { operations: records, now: T0 });
  const fact = { id: nextId(), sessionId: id, subject: "s", predicate: "p", object: "o" };
  const facts = [{ ...fact, sourceEntry: ids[0] ?? "", confidence: 1 / 3, createdAt: T0 }];
  await store.addFacts(tenant, id, facts, T0);
  await store.putIngestedFiles(tenant, "w", [ingested("/a")], T0);
  await store.putOriginal(tenant, "w", original("/a", { sessionIds: [id] }), T0);
  const token = newToken({ actor: "ci", actAs: "any", operator: true, expiresAt: T0 });
  await store.createToken(tenant, token);
  await store.takeLease("sweep", "me", 99_999);
  await store.putRoute(tenant, newRoute({ sessionId: id, fields: { displayName: "\ud800" } }));
  const gone = await createSession(store, tenant);
  await store.deleteSession(tenant, gone.id, "user", T0);
  const other = await createSession(store, `${tenant}-other`);
  await append(store, `${tenant}-other`, other.id, message("x".repeat(20_000)));
  await store.setQuota(
    `${tenant}-other`,
    { maxSessions: 7, maxEntries: null, maxContentBytes: 10 ** 12 },
    T0,
  );
  return { id };
}
