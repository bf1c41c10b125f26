import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { BackscrollError } from "../../../model/errors.ts";
import type { NewEntry } from "../../records.ts";
import type { WriteName } from "../operations/index.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { migrate } from "../sqlite-schema.ts";
import { type Outcome, WriteQueue } from "./write-queue.ts";

const ENTRY: NewEntry = {
  id: "e",
  kind: "message",
  role: "user",
  actor: null,
  content: "[]",
  payloads: [],
  contentBytes: 2,
  usage: null,
  model: null,
  adapter: null,
  metadata: null,
  createdAt: 1,
  interaction: true,
};

test.each([
  ["a message", false],
  ["a history, which is prepared before the lock is taken", true],
])(
  "%s for a store that a newer version has migrated fails with schema_too_new",
  async (_, isHistory) => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "store.db");
    const db = new SqliteConnection(path);
    onTestFinished(() => db.close());
    migrate(db);
    const queue = new WriteQueue(db, 1_000);
    const newer = new SqliteConnection(path);
    newer.exec("ALTER TABLE tenants RENAME TO accounts");
    newer.exec("INSERT INTO schema VALUES (99, 'accounts', 99, 99, 1)");
    newer.close();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const request = { sessionId: "s", now: 2, isHistory, entries: [ENTRY] };
    queue.add({ name: "append", args: ["other", request], settle: resolve });
    queue.drain();
    const outcome = await promise;
    const code = "error" in outcome ? (outcome.error as BackscrollError).code : "none";
    expect(code).toBe("schema_too_new");
    expect(queue.idle).toBe(true);
  },
);

test("a failed write does not affect the others of its group, without and with savepoints", () => {
  const db = new SqliteConnection(":memory:");
  onTestFinished(() => db.close());
  migrate(db);
  const queue = new WriteQueue(db, 1_000, false);
  const add = (name: WriteName, ...args: readonly unknown[]) => {
    const given: { outcome?: Outcome } = {};
    queue.add({
      name,
      args,
      settle: (outcome) => {
        given.outcome = outcome;
      },
    });
    return given;
  };
  const codeOf = ({ outcome }: { readonly outcome?: Outcome }) =>
    outcome !== undefined && "error" in outcome ? (outcome.error as BackscrollError).code : "none";
  for (let round = 0; round < 3; round++) {
    const memory = { agent: "a", name: `m${round}`, content: "c", metadata: null, now: 1 };
    const before = add("putMemory", "t", memory);
    const missing = add("append", "t", { sessionId: "s", now: 2, entries: [ENTRY] });
    const after = add("putMemory", "t", { ...memory, name: `n${round}` });
    queue.drain();
    expect([before, missing, after].map(codeOf)).toEqual(["none", "session_not_found", "none"]);
  }
  expect(db.all("SELECT name FROM memories")).toHaveLength(6);
  expect(db.get("SELECT feed_position FROM tenants")).toEqual({ feed_position: 6 });
});

test("histories are committed in bounded groups, and each caller is answered with its group", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const db = new SqliteConnection(join(folder, "store.db"));
  onTestFinished(() => db.close());
  migrate(db);
  const queue = new WriteQueue(db, 1_000);
  const settled: number[] = [];
  const pieces = [0, 1, 2].map((piece) => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const entries = Array.from({ length: 64 }, (_, i) => ({ ...ENTRY, id: `e${piece}-${i}` }));
    const request = { sessionId: "s", now: 2, isHistory: true, entries };
    const settle = (outcome: Outcome) => {
      settled.push(piece);
      resolve(outcome);
    };
    queue.add({ name: "append", args: ["t", request], settle });
    return promise;
  });
  queue.drain();
  // The session is missing: each group reports that.
  expect(settled).toEqual([0]);
  for (const outcome of await Promise.all(pieces)) expect(outcome).toHaveProperty("error");
  expect(settled).toEqual([0, 1, 2]);
  expect(queue.idle).toBe(true);
});
