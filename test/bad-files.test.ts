/** Unusable files: each gets a coded error, and is left unchanged. */

import { createHash, randomFillSync } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { BackscrollError, open, textOf } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import type { FullDiskLine, FullDiskTask } from "./support/full-disk-writer.ts";
import type { Probe, ProbeTask } from "./support/store-prober.ts";

const MODES = [
  ["on threads", false],
  ["on the caller's thread", true],
] as const;

/** A sound store with one session of 50 messages, closed. */
async function createStore(): Promise<string> {
  const path = join(createFolder(), "store.db");
  await using engine = await open(path, { inThread: true });
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  const messages = Array.from({ length: 50 }, (_, i) => ({
    role: "user" as const,
    content: `message ${i} ${"x".repeat(500)}`,
  }));
  await session.append(messages);
  await engine.close();
  return path;
}

function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function codeOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
    return "ok";
  } catch (error) {
    if (BackscrollError.is(error)) return error.code;
    throw error;
  }
}

/** Opening for writing and for reading both give `code`, and the file stays byte for byte. */
async function isRefused(path: string, code: string): Promise<void> {
  const before = digest(path);
  for (const options of [{}, { inThread: true }, { readOnly: true }]) {
    expect(await codeOf(async () => (await open(path, options)).close())).toBe(code);
  }
  expect(digest(path)).toBe(before);
  // No rollback journal is left beside it.
  expect(existsSync(`${path}-journal`)).toBe(false);
}

describe("a damaged file is refused and left unchanged:", () => {
  test("a text file", async () => {
    const path = join(createFolder(), "notes.txt");
    writeFileSync(path, "These are my notes, and not a database.\n".repeat(200));
    await isRefused(path, "store_corrupt");
    writeFileSync(path, "x");
    await isRefused(path, "store_corrupt");
  });

  test("random bytes after a sound first page", async () => {
    const path = await createStore();
    const bytes = readFileSync(path);
    randomFillSync(bytes, 4_096);
    writeFileSync(path, bytes);
    await isRefused(path, "store_corrupt");
  });

  test.each([50, 1_000, 4_096, 20_000])("a store truncated to %d bytes", async (length) => {
    const path = await createStore();
    truncateSync(path, length);
    await isRefused(path, "store_corrupt");
  });

  test("a database of another program", async () => {
    const path = join(createFolder(), "other.db");
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('theirs')");
    db.close();
    await isRefused(path, "foreign_database");
  });

  test("a file with another program's application id", async () => {
    const path = join(createFolder(), "marked.db");
    const db = new DatabaseSync(path);
    db.exec("PRAGMA application_id = 12345; CREATE TABLE t (a); DROP TABLE t");
    db.close();
    await isRefused(path, "foreign_database");
  });
});

describe("damage in the middle", () => {
  test("is found by a check, reported by a read, and not made worse", async () => {
    const path = await createStore();
    const bytes = readFileSync(path);
    // The page of a message in the middle of the session.
    const page = Math.floor(bytes.indexOf("message 25 ") / 4_096) * 4_096;
    randomFillSync(bytes, page, 4_096);
    writeFileSync(path, bytes);
    const before = digest(path);
    {
      await using engine = await open(path, { inThread: true });
      expect(await engine.checkIntegrity()).not.toEqual([]);
      expect(await codeOf(() => engine.listMessages("s", { limit: 500 }))).toBe("store_corrupt");
    }
    expect(digest(path)).toBe(before);
  });

  test("in a log that was copied from elsewhere is ignored", async () => {
    const path = await createStore();
    const other = join(createFolder(), "other.db");
    await using engine = await open(other, { inThread: true });
    await engine.createSession({ id: "other", agent: "test", createdBy: "test" });
    copyFileSync(`${other}-wal`, `${path}-wal`);
    truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 100);
    writeFileSync(`${path}-wal`, randomFillSync(readFileSync(`${path}-wal`), 32));
    await using sound = await open(path, { inThread: true });
    expect((await sound.verify()).problems).toEqual([]);
    expect((await sound.getSessionMeta("s")).messageCount).toBe(50);
  });
});

describe("a read-only store", () => {
  async function probe(address: string, options: ProbeTask["options"]): Promise<Probe | undefined> {
    const child = new Child("./store-prober.ts", { isBound: true });
    child.tell({ address, options } satisfies ProbeTask);
    await child.succeed();
    return child.said<Probe>()[0];
  }

  test("opened for reading, reads and refuses to write", async () => {
    const path = await createStore();
    const before = digest(path);
    await using engine = await open(path, { readOnly: true });
    const session = await engine.getSession("s");
    expect((await session.listMessages({ limit: 1 })).total).toBe(50);
    expect(await codeOf(() => session.append({ role: "user", content: "x" }))).toBe(
      "store_read_only",
    );
    expect(await codeOf(() => engine.deleteSession("s"))).toBe("store_read_only");
    expect(digest(path)).toBe(before);
  });

  test("a file or folder without write permission is not written to", async () => {
    const path = await createStore();
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);
    const before = digest(path);
    for (const inThread of [true, false]) {
      const found = await probe(path, { inThread });
      const codes = ["store_read_only", "store_unavailable"];
      expect(codes).toContain(found?.open === "ok" ? found.write : found?.open);
    }
    const reader = await probe(path, { readOnly: true, inThread: true });
    expect(reader).toMatchObject({ open: "ok", read: "ok", messages: 50 });
    expect(digest(path)).toBe(before);
    chmodSync(dirname(path), 0o755);
  });

  test("in a read-only folder, all commits are read", async () => {
    const clean = await createStore();
    const left = await createStore();
    const live = await createStore();
    // The log of a dead process, with and without its index in shared memory.
    await using writer = await open(live, { inThread: true });
    const session = await writer.getSession("s");
    for (let n = 0; n < 5; n++) await session.append({ role: "user", content: `more ${n}` });
    for (const suffix of ["", "-wal"]) copyFileSync(live + suffix, left + suffix);

    const all = [
      { path: clean, messages: 50 },
      { path: live, messages: 55 },
      { path: left, messages: 55 },
    ];
    for (const { path, messages } of all) {
      const folder = dirname(path);
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
      chmodSync(folder, 0o555);
      const names = readdirSync(folder);
      const found = await probe(path, { readOnly: true, inThread: path !== clean });
      const codes = { open: "ok", read: "ok", write: "store_read_only" };
      expect(found).toEqual({ ...codes, messages, losses: 0 });
      expect(readdirSync(folder)).toEqual(names);
      for (const name of names) chmodSync(join(folder, name), 0o600);
      chmodSync(folder, 0o755);
    }
  });

  test("in a read-only folder, a damaged log is reported and cannot be kept", async () => {
    const live = await createStore();
    const path = await createStore();
    await using writer = await open(live, { inThread: true });
    const session = await writer.getSession("s");
    for (let n = 0; n < 9; n++) await session.append({ role: "user", content: `more ${n}` });
    for (const suffix of ["", "-wal"]) copyFileSync(live + suffix, path + suffix);
    const log = readFileSync(`${path}-wal`);
    log.writeUInt8(log.readUInt8(log.length >> 1) ^ 1, log.length >> 1);
    writeFileSync(`${path}-wal`, log);
    for (const suffix of ["", "-wal"]) chmodSync(path + suffix, 0o444);
    chmodSync(dirname(path), 0o555);
    const found = await probe(path, { readOnly: true, inThread: true });
    expect(found).toMatchObject({ open: "ok", read: "ok", losses: 1 });
    chmodSync(dirname(path), 0o755);
  });

  test("an unreadable file, and a folder that takes no new file", async () => {
    const path = await createStore();
    chmodSync(dirname(path), 0o555);
    const fresh = await probe(join(dirname(path), "new.db"), { inThread: true });
    expect(fresh?.open).toBe("store_unavailable");
    chmodSync(path, 0o000);
    const secret = await probe(path, { inThread: true });
    expect(secret?.open).toBe("store_unavailable");
    chmodSync(dirname(path), 0o755);
  });

  test("that does not exist is not created", async () => {
    const path = join(createFolder(), "none.db");
    expect(await codeOf(() => open(path, { readOnly: true }))).toBe("store_not_found");
    expect(await codeOf(() => open(path, { create: false }))).toBe("store_not_found");
    expect(existsSync(path)).toBe(false);
  });
});

describe.each(MODES)("a full disk, %s", (_, inThread) => {
  test("refuses writes, keeps everything readable, and loses nothing", async () => {
    const address = join(createFolder(), "full.db");
    // RLIMIT_FSIZE of 2 MB, with SIGXFSZ ignored: writes fail as on a full disk.
    const child = new Child("./full-disk-writer.ts", { limits: "trap '' XFSZ; ulimit -f 4096" });
    child.tell({ address, inThread } satisfies FullDiskTask);
    await child.succeed();
    const said = child.said<FullDiskLine>();
    const appended = said.flatMap((line) => ("appended" in line ? line.appended : []));
    expect(appended.length).toBeGreaterThan(50);
    const codes = ["store_full", "store_unavailable"];
    expect(codes).toContain(said.flatMap((line) => ("refused" in line ? line.refused : []))[0]);
    const last = said.at(-1);
    expect(last).toMatchObject({ readable: appended.length, problems: 0 });
    expect(codes).toContain(last !== undefined && "again" in last ? last.again : "");

    // With free space again, every acknowledged write is there, and the store accepts writes.
    await using engine = await open(address, { inThread });
    const session = await engine.getSession("full");
    const stored: string[] = [];
    for (let offset = 0; offset < appended.length; offset += 500) {
      const { messages } = await session.listMessages({ offset, limit: 500 });
      stored.push(...messages.map((message) => message.id));
    }
    expect(stored).toEqual(appended);
    const entry = await session.append({ role: "user", content: "room again" });
    expect(textOf((await session.getEntry(entry.id)).blocks)).toBe("room again");
    expect((await engine.verify()).problems).toEqual([]);
    expect(await engine.checkIntegrity()).toEqual([]);
  });
});

describe.each(MODES)("a busy store, %s", (_, inThread) => {
  test("refuses calls beyond its queue (back-pressure), and executes the rest", async () => {
    const path = await createStore();
    await using engine = await open(path, { inThread, maxQueue: 10 });
    const session = await engine.getSession("s");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => session.append({ role: "user", content: `${i}` })),
    );
    const taken = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(taken.length).toBeGreaterThanOrEqual(10);
    expect(taken.length).toBeLessThan(100);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({
        code: "store_busy",
        details: { retryAfterMs: expect.any(Number) },
      });
    }
    expect((await session.meta()).messageCount).toBe(50 + taken.length);
  });

  test("waits for another program's lock, but not forever", async () => {
    const path = await createStore();
    await using engine = await open(path, { inThread, busyTimeoutMs: 150 });
    await using patient = await open(path, { inThread, busyTimeoutMs: 600_000 });
    const session = await engine.getSession("s");
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const message = { role: "user", content: "x" } as const;
    expect(await codeOf(() => session.append(message))).toBe("store_busy");
    // Reading continues meanwhile.
    expect((await session.meta()).messageCount).toBe(50);
    const waiting = patient.session("s").append(message);
    other.exec("ROLLBACK");
    await waiting;
    other.close();
    expect((await session.meta()).messageCount).toBe(51);
  });

  test("that is closed reports it to every caller", async () => {
    const path = await createStore();
    const engine = await open(path, { inThread });
    const session = await engine.getSession("s");
    const underWay = session.append({ role: "user", content: "x" });
    await engine.close();
    await engine.close();
    await underWay;
    for (const call of [
      () => session.append({ role: "user", content: "x" }),
      () => session.listMessages(),
      () => engine.createSession({ agent: "test", createdBy: "test" }),
      () => engine.listSessions(),
      () => engine.verify(),
      () => engine.status(),
      () => engine.sweep(),
    ]) {
      expect(await codeOf(call)).toBe("store_closed");
    }
  });
});

test("a new store is readable by its owner only", async () => {
  const path = join(createFolder(), "new", "folder", "store.db");
  await using engine = await open(path);
  await engine.createSession({ agent: "test", createdBy: "test" });
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  for (const suffix of ["", "-wal", "-shm"]) {
    expect(statSync(path + suffix).mode & 0o077, suffix).toBe(0);
  }
});
