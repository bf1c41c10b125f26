import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isStress } from "../../../test/support/repeats.ts";
import { createSession, expectCode, type OpenedStore } from "../cases/fixture.cases.ts";
import { TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import { ALL_CASES, MESSAGE_CASES, storeCases, TURN_CASES } from "../store.cases.ts";
import type { Store, StoreOptions } from "../store.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

/** The cases run maintenance themselves. */
const INDEXING = { module: TRIVIAL_INDEX, flushAt: 0 };

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "backscroll-sqlite-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

storeCases("SQLite on the caller's thread", () => open({ inThread: true }));
// On threads the same statements run; only scheduling and message passing differ.
storeCases(
  "SQLite on its own threads",
  () => open({}),
  isStress ? ALL_CASES : [...TURN_CASES, ...MESSAGE_CASES],
);
// In memory the code is that of the caller's thread; test/store-kit.test.ts runs all cases there.
if (isStress) {
  storeCases("SQLite in memory", async () => ({
    store: await openSqliteStore(":memory:", { indexing: INDEXING }),
  }));
}

test("a read-only store reads existing rows and refuses to write", async () => {
  const { store, reopen } = await open({});
  const { id } = await createSession(store, "a");
  const reader = await reopen?.({ readOnly: true });
  onTestFinished(async () => {
    await reader?.close();
    await store.close();
  });
  expect(await reader?.findSession("a", id)).toBeDefined();
  await expectCode(createSession(reader as Store, "a"), "store_read_only");
  await expectCode(reader?.load(store.dump()) as Promise<unknown>, "store_read_only");
  expect((await store.findSession("a", id))?.entryCount).toBe(0);
});

async function open(options: StoreOptions): Promise<OpenedStore> {
  const path = join(folder, `${++files}.db`);
  const reopen = (more: StoreOptions = {}) =>
    openSqliteStore(path, {
      durability: "process",
      indexing: INDEXING,
      ...options,
      ...more,
    });
  return { store: await reopen(), reopen };
}
