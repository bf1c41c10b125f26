import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { SEED, seeded } from "../../../test/support/random.ts";
import { repeats } from "../../../test/support/repeats.ts";
import { append, createSession, message, T0 } from "../cases/fixture.cases.ts";
import { answerTo, expectAgreement, holdAt } from "../cases/index-fixture.cases.ts";
import { search } from "../cases/search.cases.ts";
import { runTrivial, TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import type { SuiteIndexing } from "../index/indexing-options.ts";
import type { Store, StoreOptions } from "../store.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

let path: string;
let index: string;

beforeEach(() => {
  path = join(createFolder(), "store.db");
  index = `${path}-index`;
});

async function open(options: StoreOptions = {}, indexing: SuiteIndexing = {}): Promise<Store> {
  const store = await openSqliteStore(path, {
    inThread: true,
    durability: "process",
    ...options,
    indexing: { module: TRIVIAL_INDEX, flushAt: 0, ...indexing },
  });
  onTestFinished(() => store.close());
  return store;
}

async function fill(store: Store, count: number): Promise<string> {
  const { id } = await createSession(store, "a");
  for (let i = 0; i < count; i++) await append(store, "a", id, message(`message ${i}`));
  return id;
}

/** A store with two segments and a tail, closed. */
async function createIndexed(): Promise<void> {
  const store = await open();
  await fill(store, 50);
  await store.maintain("a", "flush");
  const id = await fill(store, 50);
  await store.maintain("a", "flush");
  await append(store, "a", id, message("the tail"));
  await store.close();
}

describe("the segment file", () => {
  test("is readable by its owner only, has its own page size, and no log after close", async () => {
    await createIndexed();
    expect(statSync(index).mode & 0o777).toBe(0o600);
    expect(existsSync(`${index}-wal`)).toBe(false);
    const db = new DatabaseSync(index);
    expect(db.prepare("PRAGMA page_size").get()).toEqual({ page_size: 8_192 });
    db.close();
  });

  test("is not built by a process that only reads or appends", async () => {
    const store = await open();
    await fill(store, 3);
    await expectAgreement(store, "a");
    expect(existsSync(index)).toBe(false);
  });

  const BROKEN: Record<string, () => void> = {
    "is missing": () => rmSync(index),
    "is empty": () => truncateSync(index),
    "is cut": () => truncateSync(index, 10_000),
    "is no database": () => writeFileSync(index, "no database ".repeat(1_000)),
    "has a broken header": () => damage(index, 0),
    "is another program's": () => {
      rmSync(index);
      const db = new DatabaseSync(index);
      db.exec("PRAGMA application_id = 5; CREATE TABLE t (x)");
      db.close();
    },
    "is of another version": () => {
      const db = new DatabaseSync(index);
      db.exec("PRAGMA user_version = 99");
      db.close();
    },
    "is another store's": () => {
      const db = new DatabaseSync(index);
      db.exec("UPDATE index_store SET value = 'other'");
      db.close();
    },
    "has another file's log": () => {
      rmSync(index);
      copyFileSync(path, `${index}-wal`);
    },
  };

  test.each(Object.entries(BROKEN))("that %s is rebuilt, and fails no call", async (_, harm) => {
    await createIndexed();
    harm();
    const reader = await open({ readOnly: true });
    const { documents } = await runTrivial(reader, "a");
    expect(documents).toHaveLength(101);
    await reader.close();
    const store = await open();
    expect(await store.checkIntegrity()).toEqual([]);
    const id = await fill(store, 1);
    await store.deleteSession("a", id, "user", T0);
    await store.maintain("a", "maintain");
    await expectAgreement(store, "a");
    expect((await store.indexStatus("a")).lag).toBe(0);
    expect(statSync(index).mode & 0o777).toBe(0o600);
  });

  test("of another program is moved aside, ours is deleted", async () => {
    await createIndexed();
    BROKEN["is another program's"]?.();
    const foreign = readFileSync(index);
    const store = await open();
    await store.maintain("a", "maintain");
    expect(readFileSync(`${index}.aside`)).toEqual(foreign);
    rmSync(`${index}.aside`);
    await store.close();
    BROKEN["is of another version"]?.();
    await (await open()).maintain("a", "maintain");
    expect(existsSync(`${index}.aside`)).toBe(false);
  });

  test("reports a damaged blob, and its segment is rebuilt", async () => {
    await createIndexed();
    const offset = readFileSync(index).indexOf('{"session":1,"sequence":7');
    damage(index, offset + 2);
    const store = await open();
    const { segments } = await answerTo(store, "a", { need: "manifest" });
    const keys = segments.map(({ segment }) => ({ segment, blob: 0 }));
    const blobs = await answerTo(store, "a", { need: "blobs", keys });
    expect(blobs.map((blob) => typeof blob)).toEqual(["string", "object"]);
    expect(blobs[0]).toBe("damaged");
    await store.maintain("a", "maintain");
    await expectAgreement(store, "a");
  });

  test("with a log truncated anywhere is rebuilt, and the store opens", async () => {
    const store = await open();
    const folder = createFolder();
    const logs: Buffer[] = [];
    for (let i = 0; i < 6; i++) {
      const id = await fill(store, 20);
      if (i % 2 === 1) await store.deleteSession("a", id, "user", T0);
      await store.maintain("a", i === 4 ? "merge" : "flush");
      logs.push(readFileSync(`${index}-wal`));
    }
    const log = logs.at(-1) ?? Buffer.alloc(0);
    const files = [path, `${path}-wal`, index].map((file) => readFileSync(file));
    const random = seeded(SEED);
    const cuts = repeats(15, 200);
    for (let n = 0; n < cuts; n++) {
      path = join(folder, `${n}.db`);
      const [main, mainLog, segments] = files;
      writeFileSync(path, main ?? "");
      writeFileSync(`${path}-wal`, mainLog ?? "");
      writeFileSync(`${path}-index`, segments ?? "");
      const length = Math.floor((random() * n * log.length) / (cuts - 1));
      writeFileSync(`${path}-index-wal`, log.subarray(0, length));
      const cut = await open();
      await cut.maintain("a", "maintain");
      await expectAgreement(cut, "a");
      await cut.close();
    }
  });
});

describe("an index whose segments cannot be read", () => {
  /** With the real index, which rebuilds the segments that a search reports. */
  async function openReal(flushAt: number): Promise<Store> {
    const options = { inThread: true, durability: "process", indexing: { flushAt } } as const;
    const store = await openSqliteStore(path, options);
    onTestFinished(() => store.close());
    return store;
  }

  async function createReal(): Promise<void> {
    const store = await openReal(0);
    const { id } = await createSession(store, "a");
    for (let i = 0; i < 20; i++) await append(store, "a", id, message(`zebra ${i}`));
    await store.maintain("a", "flush");
    await store.close();
  }

  test("because the file is missing is rebuilt by any maintenance", async () => {
    await createReal();
    rmSync(index);
    const store = await openReal(0);
    expect(await search(store, "zebra")).toMatchObject({ degraded: false });
    for (let more = true; more; ) ({ more } = await store.maintain("a", "maintain"));
    const { degraded, hits } = await search(store, "zebra");
    expect([degraded, hits.length]).toEqual([false, 20]);
  });

  test("because they are damaged is rebuilt after a search has reported them", async () => {
    await createReal();
    const db = new DatabaseSync(index);
    db.exec("UPDATE index_blobs SET crc = crc + 1");
    db.close();
    const store = await openReal(1_024);
    expect(await search(store, "zebra")).toMatchObject({ degraded: true, hits: [] });
    const found = async () => (await search(store, "zebra")).hits.length;
    await expect.poll(found).toBe(20);
  });
});

test("a segment is committed before a manifest names it", async () => {
  const store = await open({ durability: "power-loss" });
  await fill(store, 10);
  const count = (file: string, sql: string) => {
    const db = new DatabaseSync(file, { readOnly: true });
    const row = db.prepare(sql).get();
    db.close();
    return row?.["count"];
  };
  await holdAt(
    "written",
    () => store.maintain("a", "flush"),
    async () => {
      expect(count(index, "SELECT count(*) AS count FROM index_blobs")).toBe(1);
      expect(count(path, "SELECT sum(version) AS count FROM index_manifest")).toBe(0);
    },
  );
  expect(count(path, "SELECT sum(version) AS count FROM index_manifest")).toBe(1);
});

test("merged segments are deleted by the same maintenance", async () => {
  const store = await open();
  for (let i = 0; i < 4; i++) {
    await fill(store, 5);
    await store.maintain("a", "maintain");
  }
  expect((await store.indexStatus("a")).segments).toBe(1);
  const db = new DatabaseSync(index);
  expect(db.prepare("SELECT count(*) AS count FROM index_segments").get()).toEqual({ count: 1 });
  db.close();
  await expectAgreement(store, "a");
});

test("a swap with a stale fencing token is refused", async () => {
  const store = await open();
  const other = await open();
  await fill(store, 5);
  const db = new DatabaseSync(path);
  const report = await holdAt(
    "written",
    () => store.maintain("a", "flush"),
    async () => {
      db.exec("UPDATE index_manifest SET epoch = epoch + 1");
      await fill(other, 5);
    },
  );
  db.close();
  expect(report.busy).toBe(true);
  expect((await store.indexStatus("a")).segments).toBe(0);
  await expectAgreement(store, "a");
});

test("a reader reopens a file that another process has recreated", async () => {
  await createIndexed();
  const reader = await open();
  await expectAgreement(reader, "a");
  const writer = await open();
  rmSync(index);
  for (const suffix of ["-wal", "-shm"]) rmSync(`${index}${suffix}`, { force: true });
  await writer.maintain("a", "maintain");
  await expectAgreement(reader, "a");
});

test("a cached manifest is invalidated by later writes", async () => {
  const options = { inThread: true, durability: "process", indexing: { flushAt: 0 } } as const;
  const writer = await openSqliteStore(path, options);
  onTestFinished(() => writer.close());
  const reader = await openSqliteStore(path, options);
  onTestFinished(() => reader.close());
  const { id } = await createSession(writer, "a");
  await createSession(writer, "b");
  for (let count = 0; count < 4; count++) {
    for (const tenant of ["a", "a", "b", "a"]) {
      const { hits, lag } = await search(reader, "zebra", tenant);
      expect(hits).toHaveLength(tenant === "a" ? count : 0);
      if (tenant === "a" && count === 2) expect(lag).toBe(0);
    }
    await append(writer, "a", id, message(`zebra ${count}`));
    if (count === 1) await writer.maintain("a", "flush");
  }
});

test("rows cached for one tenant's search are not used for another tenant", async () => {
  const store = await openSqliteStore(path, { inThread: true, indexing: { flushAt: 0 } });
  onTestFinished(() => store.close());
  // Each feed has one change, then one of them has two.
  await createSession(store, "a");
  const { id } = await createSession(store, "b");
  expect((await search(store, "zebra", "b")).hits).toEqual([]);
  await append(store, "b", id, message("zebra"));
  expect((await search(store, "zebra", "a")).hits).toEqual([]);
  expect((await search(store, "zebra", "b")).hits).toHaveLength(1);
});

test("a segment that absorbs new changes does not block the log's checkpoint", async () => {
  const options = { inThread: true, durability: "process", indexing: { flushAt: 0 } } as const;
  const store = await openSqliteStore(path, options);
  onTestFinished(() => store.close());
  const { id } = await createSession(store, "a");
  const say = (count: number) =>
    append(store, "a", id, ...Array.from({ length: count }, () => message("one of many")));
  for (let i = 0; i < 20; i++) await say(100);
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  const moved: boolean[] = [];
  let isDone = false;
  const maintenance = store.maintain("a", "maintain").finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await say(1);
    // Until the next yield.
    await new Promise((resolve) => setImmediate(resolve));
    const { log, checkpointed } = other.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
    moved.push(log === checkpointed);
  }
  await maintenance;
  expect(moved.length).toBeGreaterThan(10);
  expect(moved.filter((isWhole) => !isWhole).length).toBeLessThan(moved.length / 2);
});

/** Changes one byte. */
function damage(file: string, offset: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
}

test("short-lived processes that append little keep the tail bounded", async () => {
  const first = await open();
  const { id } = await createSession(first, "a");
  await first.close();
  for (let i = 0; i < 30; i++) {
    const store = await open({}, { flushAt: 10 });
    await append(store, "a", id, message(`${i}`));
    await store.close();
  }
  const store = await open();
  expect((await store.indexStatus("a")).lag).toBeLessThan(11);
  await expectAgreement(store, "a");
});
