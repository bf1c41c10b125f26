/**
 * A write-ahead log damaged while the store was closed.
 *
 * SQLite takes the commits after the damage for a torn tail, and overwrites them. So they are
 * reported at opening, the log is kept aside, and every command reports them until acknowledged.
 */

import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { open } from "../src/index.ts";
import { findLoss } from "../src/store/sqlite/opening/look-at-log.ts";
import type { StoreLoss } from "../src/types.ts";
import { Child } from "./support/child.ts";
import { callCli } from "./support/cli.ts";
import type { CrashLine, CrashTask } from "./support/crash-lines.ts";
import { createFolder } from "./support/folder.ts";
import { repeats } from "./support/repeats.ts";
import type { Probe, ProbeTask } from "./support/store-prober.ts";

const SESSION = "own";

interface Killed {
  readonly path: string;
  readonly acknowledged: number;
}

let original: Killed;
beforeAll(async () => {
  let remove = () => {};
  const folder = createFolder((removeFolder) => {
    remove = removeFolder;
  });
  original = await killBeforeCheckpoint(folder);
  return remove;
});

/**
 * On a busy machine the kill may come after a checkpoint has begun: then the file has pages that are
 * newer than the part of the log before the damage.
 */
async function killBeforeCheckpoint(folder: string): Promise<Killed> {
  for (let tries = 0; tries < 20; tries++) {
    const killed = await killWriter(join(folder, String(tries), "killed.db"));
    if (!hasCheckpoint(killed.path)) return killed;
  }
  throw new Error("each of 20 writers was killed after a checkpoint had begun");
}

/** By `nBackfillAttempted` of the log's index, and the number of checkpoints in the log's header. */
function hasCheckpoint(path: string): boolean {
  const [index, log] = [readFileSync(`${path}-shm`), readFileSync(`${path}-wal`)];
  return index.readUInt32LE(128) > 0 || log.readUInt32BE(12) > 0;
}

/** The files of a killed writer: each test damages a copy. */
function createKilled(): Killed {
  const folder = createFolder();
  cpSync(dirname(original.path), folder, { recursive: true });
  return { ...original, path: join(folder, "killed.db") };
}

/** Kills a writer after some appends. Gives the path and the number of acknowledged appends. */
async function killWriter(path: string): Promise<Killed> {
  mkdirSync(dirname(path), { recursive: true });
  const writer = startWriter(path, SESSION);
  // Two lines an append.
  await writer.until(160);
  await writer.kill();
  const acknowledged = writer
    .said<CrashLine>()
    .filter((line) => "did" in line && line.did === "append" && line.session === SESSION).length;
  return { path, acknowledged };
}

function startWriter(path: string, session: string, mode: CrashTask["mode"] = "single"): Child {
  const writer = new Child("./crash-writer.ts");
  const sessions = { ownSession: session, sharedSession: session };
  writer.tell({
    address: path,
    durability: "power-loss",
    inThread: mode === "single",
    mode,
    ...sessions,
    leaseMs: 1_500,
  } satisfies CrashTask);
  return writer;
}

function flipMiddle(path: string): Buffer {
  const log = readFileSync(`${path}-wal`);
  const middle = log.length >> 1;
  log.writeUInt8(log.readUInt8(middle) ^ 0x10, middle);
  writeFileSync(`${path}-wal`, log);
  return log;
}

function keptLogs(path: string): string[] {
  return readdirSync(dirname(path)).filter((name) => name.startsWith("killed.db-wal.kept-"));
}

async function openAndClose(
  path: string,
  readOnly = false,
): Promise<{ readonly told: StoreLoss[]; readonly listed: readonly StoreLoss[] }> {
  const told: StoreLoss[] = [];
  const onLoss = (loss: StoreLoss) => void told.push(loss);
  await using engine = await open(path, { inThread: true, readOnly, onLoss });
  return { told, listed: (await engine.status()).losses };
}

describe("commits behind a flipped bit", () => {
  test("are reported by every opening, until acknowledged", async () => {
    const { path, acknowledged } = createKilled();
    const damaged = flipMiddle(path);

    const { told, listed } = await openAndClose(path);
    expect(told).toEqual([{ kind: "log", ...anyLoss }]);
    expect(listed).toEqual(told);
    const [name = ""] = keptLogs(path);
    expect(readFileSync(join(dirname(path), name)).equals(damaged)).toBe(true);

    // The log is gone: SQLite has checkpointed the part that it accepted.
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(await openAndClose(path)).toEqual({ told, listed });
    expect(keptLogs(path)).toEqual([name]);

    const list = await callCli(["show", SESSION, "--json", "--db", path]);
    expect(list.stderr).toMatch(
      /^Warning: the write-ahead log was damaged, and at least \d+ commit/,
    );
    expect(list.stderr).toContain(name);
    const [loss] = told;
    const commits = loss?.kind === "log" ? loss.commits : 0;
    const left = (JSON.parse(list.stdout) as { total: number }).total;
    // Each message is a commit. A damaged commit frame is not counted; the last commit may be stored and
    // unacknowledged.
    const lost = acknowledged - left;
    expect([lost - 1, lost, lost + 1]).toContain(commits);
    expect(commits).toBeGreaterThan(20);

    const status = await callCli(["status", "--json", "--db", path]);
    const found_at = new Date(loss?.foundAt ?? 0).toISOString();
    const wire = { kind: "log", found_at, commits, kept: join(dirname(path), name) };
    expect(JSON.parse(status.stdout)).toMatchObject({
      losses: [{ ...wire, tenant: null, changes: null }],
    });
    const doctor = await callCli(["doctor", "--verify", "--db", path]);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`Lost      the write-ahead log was damaged`);

    const accepted = await callCli(["doctor", "--accept-loss", "--json", "--db", path]);
    expect(accepted.code).toBe(0);
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      ok: true,
      losses: [],
      accepted: [{ commits }],
    });
    expect(await openAndClose(path)).toEqual({ told: [], listed: [] });
    expect((await callCli(["list", "--db", path])).stderr).not.toContain("Warning");
    expect(readFileSync(join(dirname(path), `${name}.accepted`)).equals(damaged)).toBe(true);
  });

  test("are kept once, however often the store is read", async () => {
    const { path } = createKilled();
    const damaged = flipMiddle(path);
    const first = await openAndClose(path, true);
    expect(first.told).toHaveLength(1);
    expect(await openAndClose(path, true)).toEqual(first);
    expect(readFileSync(`${path}-wal`).equals(damaged)).toBe(true);
    const both = await Promise.all([openAndClose(path, true), openAndClose(path)]);
    expect(both).toEqual([first, first]);
    expect(keptLogs(path)).toHaveLength(1);
  });

  test("are reported and kept once while another process reads the log, and later damage is reported too", async () => {
    const { path } = createKilled();
    flipMiddle(path);
    // A reader prevents SQLite from restarting the log, also when the store is closed.
    const reader = new DatabaseSync(path, { readOnly: true });
    onTestFinished(() => reader.close());
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM entries").get();
    const write = async (count: number) => {
      const engine = await open(path, { inThread: true, onLoss: () => undefined });
      for (let i = 0; i < count; i++) {
        await engine.session(SESSION).append({ role: "user", content: `later ${i}` });
      }
      await engine.close();
    };
    await write(1);
    const first = await openAndClose(path);
    expect(first.listed).toHaveLength(1);
    await write(4);
    expect(await openAndClose(path)).toEqual(first);
    const [kept = ""] = keptLogs(path);
    expect(keptLogs(path)).toEqual([kept]);
    const frame = Number(/frame-(\d+)-/.exec(kept)?.[1]);
    const log = readFileSync(`${path}-wal`);
    const at = 32 + (frame + 2) * (24 + log.readUInt32BE(8)) + 100;
    log.writeUInt8(log.readUInt8(at) ^ 0x10, at);
    writeFileSync(`${path}-wal`, log);
    expect((await openAndClose(path)).listed).toHaveLength(2);
  });

  test("are kept once by concurrent openings", async () => {
    const { path } = createKilled();
    flipMiddle(path);
    const all = await Promise.all(Array.from({ length: 3 }, () => openAndClose(path)));
    expect(all.map(({ listed }) => listed.length)).toEqual([1, 1, 1]);
    expect(keptLogs(path)).toHaveLength(1);
  });

  test("block writes while they cannot be kept", async () => {
    const { path } = createKilled();
    const damaged = flipMiddle(path);
    const probe = async (options: ProbeTask["options"]) => {
      // No file may have more than 32 KB: the log has more.
      const child = new Child("./store-prober.ts", { limits: "trap '' XFSZ; ulimit -f 64" });
      child.tell({ address: path, session: SESSION, options } satisfies ProbeTask);
      await child.succeed();
      return child.said<Probe>()[0];
    };
    expect(await probe({ inThread: true })).toEqual({ open: "store_corrupt" });
    expect(readFileSync(`${path}-wal`).equals(damaged)).toBe(true);
    expect(keptLogs(path)).toEqual([]);
    const reader = await probe({ inThread: true, readOnly: true });
    expect(reader).toMatchObject({ open: "ok", read: "ok", write: "store_read_only", losses: 1 });
    expect((await openAndClose(path)).told).toHaveLength(1);
  });

  test("are a process warning if there is no listener", async () => {
    const { path } = createKilled();
    flipMiddle(path);
    const emitted = vi.spyOn(process, "emitWarning").mockReturnValue();
    onTestFinished(() => emitted.mockRestore());
    await using engine = await open(path, { inThread: true, readOnly: true });
    expect((await engine.status()).losses).toHaveLength(1);
    expect(emitted).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/at least \d+ commits behind the damage were lost/),
      { type: "BackscrollWarning", code: "BACKSCROLL_LOSS" },
    );
  });
});

const anyLoss = {
  foundAt: expect.any(Number),
  commits: expect.any(Number),
  kept: expect.any(String),
};

describe("a sound log", () => {
  test("of a killed writer loses nothing, and is not kept", async () => {
    const { path } = createKilled();
    expect(await openAndClose(path)).toEqual({ told: [], listed: [] });
    expect(keptLogs(path)).toEqual([]);
  });

  test("of plain SQLite writers, killed one after the other, is sound", async () => {
    const path = join(createFolder(), "bare.db");
    const bare = new DatabaseSync(path);
    bare.exec("PRAGMA page_size = 2048; PRAGMA journal_mode = WAL");
    bare.exec("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT); CREATE INDEX i ON t (text)");
    bare.close();
    // Three kills a round.
    const rounds = repeats(2, 334);
    for (let round = 0; round < rounds; round++) {
      const writers = [1, 2, 3].map(() => new Child("./log-writer.ts"));
      for (const writer of writers) writer.tell({ path });
      await Promise.all(writers.map((writer) => writer.until(1)));
      for (const writer of writers) {
        expect(await findLoss(`${path}-wal`), `round ${round}, beside writers`).toBeUndefined();
        await writer.kill();
        expect(writer.errors).toBe("");
      }
      expect(await findLoss(`${path}-wal`), `round ${round}`).toBeUndefined();
      const db = new DatabaseSync(path);
      if (round % 5 === 4) db.exec("DELETE FROM t");
      db.close();
    }
  });

  test("that others write and overwrite is sound at every check", async () => {
    const path = join(createFolder(), "busy.db");
    const writers = (["batch", "edit", "reopen"] as const).map((mode, n) =>
      startWriter(path, `own-${n}`, mode),
    );
    await Promise.all(writers.map((writer) => writer.until(3)));
    const looks = repeats(10, 2_000);
    for (let look = 0; look < looks; look++) {
      expect(await findLoss(`${path}-wal`), `look ${look}`).toBeUndefined();
    }
    for (const writer of writers) await writer.kill();
    expect(writers.map((writer) => writer.errors)).toEqual(["", "", ""]);
  });
});

describe("an index ahead of its store", () => {
  async function append(path: string, count: number, task?: "flush"): Promise<StoreLoss[]> {
    const told: StoreLoss[] = [];
    const onLoss = (loss: StoreLoss) => void told.push(loss);
    await using engine = await open(path, { inThread: true, onLoss });
    const session = await engine
      .getSession("s")
      .catch(() => engine.createSession({ id: "s", agent: "test", createdBy: "test" }));
    for (let n = 0; n < count; n++) await session.append({ role: "user", content: `words ${n}` });
    if (task !== undefined) await engine.maintainIndex(task);
    return told;
  }

  test("is reported, also when the store has caught up, and rebuilt when acknowledged", async () => {
    const path = join(createFolder(), "x.db");
    await append(path, 20, "flush");
    copyFileSync(path, `${path}.old`);
    await append(path, 30, "flush");
    copyFileSync(`${path}.old`, path);

    const loss = { kind: "index", foundAt: expect.any(Number), tenant: "default", changes: 30 };
    const reader = await openAndClose(path, true);
    expect(reader).toEqual({ told: [loss], listed: [loss] });
    expect(await append(path, 40, "flush")).toEqual([loss]);
    expect(await openAndClose(path)).toEqual({ told: [loss], listed: [loss] });

    const accepted = await callCli(["doctor", "--accept-loss", "--db", path]);
    expect(accepted.stdout).toContain("Accepted  the index of tenant default has 30 changes");
    expect(accepted.code).toBe(0);
    expect(await append(path, 5, "flush")).toEqual([]);
    await using engine = await open(path, { inThread: true });
    expect(await engine.indexStatus()).toMatchObject({ lag: 0, documents: 65 });
    expect((await engine.searchSessions("39")).hits).toHaveLength(1);
  });

  test("is not reported for a store that replaced another one", async () => {
    const path = join(createFolder(), "x.db");
    const other = join(createFolder(), "other.db");
    await append(path, 20, "flush");
    await append(other, 3);
    copyFileSync(other, path);
    expect(await append(path, 1, "flush")).toEqual([]);
  });
});
