/** Logs written by SQLite itself, damaged and sound, compared with SQLite's own replay. */

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../../test/support/folder.ts";
import { FRAME_HEADER_BYTES, HEADER_BYTES, readFrame } from "./log-format.ts";
import { type LogLoss, LogScan } from "./log-scan.ts";
import { scanLog } from "./read-log.ts";

const PAGE = 2_048;
const FRAME = FRAME_HEADER_BYTES + PAGE;

/** A database with one row per commit, whose log is not checkpointed. */
function createLog(commits: number): { readonly path: string; readonly db: DatabaseSync } {
  const path = join(createFolder(), "x.db");
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  db.exec(`PRAGMA page_size = ${PAGE}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`);
  db.exec("PRAGMA synchronous = OFF; CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)");
  db.exec("CREATE INDEX by_text ON t (text)");
  for (let n = 0; n < commits; n++) insert(db, `${n} `.repeat(20));
  return { path, db };
}

/** The log of forty commits, and a database without them. */
function createSample(): {
  readonly path: string;
  readonly log: Buffer;
  readonly frames: ReturnType<typeof framesOf>;
} {
  const { path } = createLog(40);
  const log = readLog(path);
  return { path, log, frames: framesOf(log) };
}

function insert(db: DatabaseSync, text: string): void {
  db.prepare("INSERT INTO t (text) VALUES (?)").run(text);
}

function readLog(path: string): Buffer {
  return readFileSync(`${path}-wal`);
}

function scan(log: Buffer): LogLoss | undefined {
  const scanned = LogScan.begin(log);
  scanned?.add(log.subarray(HEADER_BYTES));
  return scanned?.finish();
}

/** The offset of each frame, and whether it is a commit. */
function framesOf(log: Buffer): { readonly offset: number; readonly isCommit: boolean }[] {
  const count = Math.floor((log.length - HEADER_BYTES) / FRAME);
  return Array.from({ length: count }, (_, i) => {
    const offset = HEADER_BYTES + i * FRAME;
    return { offset, isCommit: readFrame(log, offset).isCommit };
  });
}

function flip(log: Buffer, offset: number, bit = 3): Buffer {
  const flipped = Buffer.from(log);
  flipped.writeUInt8(flipped.readUInt8(offset) ^ (1 << bit), offset);
  return flipped;
}

/** The number of rows that SQLite finds with this log. */
function rowsWith(path: string, log: Buffer): number {
  const copy = join(createFolder(), "copy.db");
  copyFileSync(path, copy);
  writeFileSync(`${copy}-wal`, log);
  const db = new DatabaseSync(copy);
  try {
    const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as Count;
    if (tables === 0) return 0;
    return Number((db.prepare("SELECT count(*) AS rows FROM t").get() as Count)["rows"]);
  } finally {
    db.close();
  }
}

type Count = Record<string, number>;

describe("a log in which a bit is flipped", () => {
  test.each([
    ["in a page", FRAME_HEADER_BYTES + 100],
    ["at the end of a page", FRAME - 1],
    ["in the number of a page", 3],
    ["in the size of the database", 7],
    ["in the first salt", 9],
    ["in the second salt", 15],
    ["in the first checksum", 17],
    ["in the second checksum", 22],
  ])("%s reports every commit after it", (_, where) => {
    const { log, frames } = createSample();
    for (let frame = 0; frame < frames.length - 1; frame++) {
      const offset = HEADER_BYTES + frame * FRAME + where;
      const behind = frames.slice(frame + 1).filter(({ isCommit }) => isCommit).length;
      const loss = scan(flip(log, offset));
      expect(loss, `frame ${frame}`).toMatchObject({ frame });
      // A damaged checksum also hides the next frame, unless it is recomputed.
      expect(loss?.commits, `frame ${frame}`).toBe(behind);
    }
  });

  test("reports the commits that SQLite discards silently", () => {
    const { path, log, frames } = createSample();
    const middle = (frames[60]?.offset ?? 0) + 500;
    const damaged = flip(log, middle);
    expect(rowsWith(path, log)).toBe(40);
    // The commit with the damaged frame is among the reported ones.
    expect(rowsWith(path, damaged)).toBe(40 - (scan(damaged)?.commits ?? 0));
  });

  test("in its header reports every commit", () => {
    const { path, log, frames } = createSample();
    const commits = frames.filter(({ isCommit }) => isCommit).length;
    for (let bit = 0; bit < HEADER_BYTES * 8; bit += 3) {
      const damaged = flip(log, bit >> 3, bit & 7);
      expect(scan(damaged), `bit ${bit}`).toMatchObject({ frame: 0, commits });
      if (bit % 24 === 0) expect(rowsWith(path, damaged), `bit ${bit}`).toBe(0);
    }
  });

  test("in several places reports the commits after the first", () => {
    const { log, frames } = createSample();
    const [first = 0, second = 0] = [frames[30]?.offset, frames[70]?.offset];
    const damaged = flip(flip(log, first + 900), second + 900);
    expect(scan(damaged)?.frame).toBe(30);
  });

  test("in its last frame is a torn tail, which is no loss", () => {
    const { log, frames } = createSample();
    const last = frames.at(-1)?.offset ?? 0;
    for (const where of [3, 9, 17, 500]) expect(scan(flip(log, last + where))).toBeUndefined();
  });

  test("is found with big-endian words", () => {
    const { path, log, frames } = createSample();
    const swapped = toBigEndian(log);
    expect(rowsWith(path, swapped)).toBe(40);
    expect(scan(swapped)).toBeUndefined();
    expect(scan(flip(swapped, (frames[50]?.offset ?? 0) + 77))).toMatchObject({ frame: 50 });
  });
});

describe("a log with a damaged sector", () => {
  test.each([
    ["a sector of zeros", 0],
    ["a sector of other bytes", 0xa5],
  ])("%s reports the commits after it", (_, byte) => {
    const { log } = createSample();
    for (let sector = 8; sector * 512 + 512 < log.length - 4 * FRAME; sector += 7) {
      const damaged = Buffer.from(log).fill(byte, sector * 512, sector * 512 + 512);
      if (damaged.equals(log)) continue;
      expect(scan(damaged), `sector ${sector}`).toBeDefined();
    }
  });

  test("without a frame's header reports the commit after it, also a single one", () => {
    const { path, db } = createLog(20);
    const before = framesOf(readLog(path)).length;
    db.exec(manyRows(100));
    const log = readLog(path);
    const offset = HEADER_BYTES + (before + 1) * FRAME;
    const damaged = Buffer.from(log).fill(0, offset, offset + 512);
    expect(scan(damaged)).toMatchObject({ frame: before + 1, commits: 1 });
  });
});

describe("a sound log", () => {
  test("is sound wherever it is cut", () => {
    const { path } = createLog(12);
    const log = readLog(path);
    for (let length = 0; length <= log.length; length += 97) {
      expect(scan(log.subarray(0, length))).toBeUndefined();
    }
  });

  test("may have hundreds of frames of a rolled-back transaction", () => {
    const { path, db } = createLog(20);
    db.exec("PRAGMA cache_size = 5; BEGIN");
    for (let n = 0; n < 3_000; n++) insert(db, `spilled ${n} `.repeat(10));
    db.exec("ROLLBACK");
    const spilled = framesOf(readLog(path)).length;
    insert(db, "after the rollback");
    const log = readLog(path);
    expect(framesOf(log).length).toBe(spilled);
    expect(spilled).toBeGreaterThan(300);
    expect(rowsWith(path, log)).toBe(21);
    expect(scan(log)).toBeUndefined();
  });

  test("may have frames of an interrupted transaction that changed pages twice", () => {
    const { path, db } = createLog(200);
    db.exec("PRAGMA cache_size = 5; BEGIN");
    for (let n = 0; n < 300; n++) db.exec(`UPDATE t SET text = text || 'x' WHERE n % 7 = ${n % 7}`);
    const log = readLog(path);
    expect(framesOf(log).length).toBeGreaterThan(400);
    expect(scan(log)).toBeUndefined();
    db.exec("ROLLBACK");
    db.exec("SAVEPOINT a; UPDATE t SET text = 'y'; ROLLBACK TO a; RELEASE a");
    insert(db, "short");
    expect(scan(readLog(path))).toBeUndefined();
  });

  test("may have commits of the log that it overwrote", () => {
    const { path, db } = createLog(60);
    const before = framesOf(readLog(path)).length;
    for (let n = 0; n < 5; n++) {
      db.exec("PRAGMA wal_checkpoint(RESTART)");
      for (let i = 0; i < 10 - n; i++) insert(db, `generation ${n}, ${i}`);
      const log = readLog(path);
      expect(framesOf(log).length).toBe(before);
      expect(scan(log)).toBeUndefined();
    }
  });

  /**
   * A process dies after writing its commit and before publishing it. Another one restarts at the
   * same frame, with fewer.
   */
  test("may have a stale frame of an unacknowledged commit", () => {
    const { path } = createLog(20);
    const long = branch(path, (own) => own.exec(manyRows(400)));
    const longer = branch(path, (own) => own.exec(manyRows(600)));
    const short = branch(path, (own) => insert(own, "the next writer"));
    const cutOff = short.subarray(0, short.length - FRAME);
    for (const next of [short, cutOff]) {
      const once = Buffer.concat([next, long.subarray(next.length)]);
      expect(readFrame(once, once.length - FRAME).isCommit).toBe(true);
      expect(scan(once)).toBeUndefined();
      const twice = Buffer.concat([once, longer.subarray(once.length)]);
      expect(scan(twice)).toBeUndefined();
    }
  });

  test("is read in slices", async () => {
    const { path, db } = createLog(300);
    db.exec(manyRows(20_000));
    insert(db, "behind a large transaction");
    const log = readLog(path);
    expect(log.length).toBeGreaterThan(3 * 1024 * 1024);
    expect(await scanLog(`${path}-wal`)).toBeUndefined();
    for (const frame of [3, 700, Math.floor(log.length / FRAME) - 20]) {
      const damaged = join(createFolder(), "damaged-wal");
      writeFileSync(damaged, flip(log, HEADER_BYTES + frame * FRAME + 700));
      expect(await scanLog(damaged)).toEqual(scan(readFileSync(damaged)));
      expect(await scanLog(damaged)).toMatchObject({ frame });
    }
  });

  test("is assumed for a missing file, and for a file of another kind", async () => {
    const folder = createFolder();
    expect(await scanLog(join(folder, "none"))).toBeUndefined();
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(31), Buffer.alloc(300_000, 0x37)]) {
      writeFileSync(join(folder, "other"), bytes);
      expect(await scanLog(join(folder, "other"))).toBeUndefined();
    }
  });
});

function manyRows(count: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO t (text) SELECT 'row ' || i || hex(randomblob(50)) FROM n`;
}

/** The log of a diverging copy of the store, from the same frame. */
function branch(path: string, write: (db: DatabaseSync) => void): Buffer {
  const copy = join(createFolder(), "branch.db");
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  const db = new DatabaseSync(copy);
  try {
    db.exec("PRAGMA wal_autocheckpoint = 0");
    write(db);
    return readLog(copy);
  } finally {
    db.close();
  }
}

/** The same log with checksums over big-endian words, as SQLite writes it on other machines. */
function toBigEndian(log: Buffer): Buffer {
  const swapped = Buffer.from(log);
  swapped.writeUInt32BE(0x377f0683, 0);
  let [s1, s2] = [0, 0];
  const run = (from: number, to: number) => {
    for (let i = from; i < to; i += 8) {
      s1 = (s1 + swapped.readInt32BE(i) + s2) | 0;
      s2 = (s2 + swapped.readInt32BE(i + 4) + s1) | 0;
    }
  };
  const store = (offset: number) => {
    swapped.writeInt32BE(s1, offset);
    swapped.writeInt32BE(s2, offset + 4);
  };
  run(0, 24);
  store(24);
  for (const { offset } of framesOf(log)) {
    run(offset, offset + 8);
    run(offset + FRAME_HEADER_BYTES, offset + FRAME);
    store(offset + 16);
  }
  return swapped;
}
