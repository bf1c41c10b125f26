import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { OpenedStore } from "../cases/fixture.cases.ts";
import { storeCases } from "../store.cases.ts";
import type { StoreOptions } from "../store.ts";
import { openSqliteStore } from "./sqlite-store.ts";

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "backscroll-sqlite-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

storeCases("SQLite on threads of its own", () => open({}));
storeCases("SQLite on the caller's thread", () => open({ inThread: true }));
storeCases("SQLite in memory", async () => ({ store: await openSqliteStore(":memory:") }));

async function open(options: StoreOptions): Promise<OpenedStore> {
  const path = join(folder, `${++files}.db`);
  const reopen = (more: StoreOptions = {}) =>
    openSqliteStore(path, { durability: "process", ...options, ...more });
  return { store: await reopen(), reopen };
}
