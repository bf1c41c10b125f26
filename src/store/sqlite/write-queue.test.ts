import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { BackscrollError } from "../../model/errors.ts";
import type { NewEntry } from "../records.ts";
import { SqliteConnection } from "./sqlite-driver.ts";
import { migrate } from "./sqlite-schema.ts";
import { type Outcome, WriteQueue } from "./write-queue.ts";

const ENTRY: NewEntry = {
  ...{ id: "e", kind: "message", role: "user", actor: null, content: "[]", payloads: [] },
  ...{ contentBytes: 2, usage: null, model: null, adapter: null, metadata: null, createdAt: 1 },
  interaction: true,
};

test.each([
  ["a message", false],
  ["a history, which is prepared before the lock is taken", true],
])("%s for a store that a newer version has changed hears so", async (_, isHistory) => {
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
});
