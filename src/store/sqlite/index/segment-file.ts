/**
 * The segment file beside a database: `x.db-index`, with its own write-ahead log.
 *
 * It is derived, so its damage does not fail the store. Without a usable file, a reader reports every
 * blob as missing. A writer replaces an unusable file: it deletes one of ours, which may hold deleted
 * text, and moves any other aside.
 */

import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { BlobAnswer, BlobKey } from "../../../search/port.ts";
import { CheckedBlobs } from "../../index/blob-check.ts";
import { MEMORY } from "../../store-options.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy } from "../sqlite-errors.ts";
import { createSegmentTables, isMade, isOurs, isUsable } from "./segment-schema.ts";
import { readBlob, readBlobs, takeSnapshot } from "./segments.ts";

/** Small: segments are cached decoded, so SQLite's page cache would duplicate them. */
const CACHE_KIB = 2_048;

/** From this many blobs of a segment on, one batched statement is faster. */
const WORTH_A_LIST = 16;

export class SegmentFile {
  readonly path: string;
  readonly #readOnly: boolean;
  /** The epoch of the store that the segments belong to. */
  readonly #epoch: () => string;
  readonly #checked = new CheckedBlobs();
  #db: SqliteConnection | undefined;
  /** The identity of the opened file: another process may have replaced it. */
  #identity = "";
  #condemned = false;

  /** `store` is the path of the database. */
  constructor(store: string, readOnly: boolean, epoch: () => string) {
    this.path = store === MEMORY ? MEMORY : `${store}-index`;
    this.#readOnly = readOnly;
    this.#epoch = epoch;
  }

  read(tenant: number, key: BlobKey): BlobAnswer {
    const answer = this.#readBlob(tenant, key);
    if (answer !== "missing" || this.#identity === identityOf(this.path)) return answer;
    this.close();
    return this.#readBlob(tenant, key);
  }

  readAll(tenant: number, keys: readonly BlobKey[]): readonly BlobAnswer[] {
    const found = new Map<BlobKey, BlobAnswer>();
    for (const [segment, own] of Map.groupBy(keys, (key) => key.segment)) {
      if (own.length < WORTH_A_LIST) continue;
      const answers = this.#readList(tenant, segment, own) ?? [];
      for (const [i, answer] of answers.entries()) found.set(own[i] as BlobKey, answer);
    }
    // Single reads identify the damaged blob, and detect a replaced file.
    return keys.map((key) => {
      const answer = found.get(key) ?? "missing";
      return answer === "missing" ? this.read(tenant, key) : answer;
    });
  }

  /** Until it ends, reads see the current state, whatever is deleted. */
  beginSnapshot(): void {
    this.endSnapshot();
    const db = this.#db ?? this.open();
    if (db !== undefined) quietly(() => takeSnapshot(db));
  }

  endSnapshot(): void {
    this.#db?.rollback();
  }

  /** The connection to a usable file; undefined if there is none. */
  open(): SqliteConnection | undefined {
    if (this.path === MEMORY) return this.#db;
    if (this.#db !== undefined && this.#identity === identityOf(this.path)) return this.#db;
    this.close();
    if (this.#condemned || !existsSync(this.path)) return undefined;
    this.#identity = identityOf(this.path);
    this.#db = quietly(() => {
      const db = this.#connect();
      if (quietly(() => isUsable(db, this.#epoch()))) return db;
      db.close();
      return undefined;
    });
    return this.#db;
  }

  /** Calls `action` with the connection, if there is a usable file. */
  use(action: (db: SqliteConnection) => void): void {
    const db = this.open();
    if (db !== undefined) quietly(() => action(db));
  }

  /** Creates a file if none is usable. The caller holds the store's write lock. */
  create(): SqliteConnection {
    const there = this.open();
    if (there !== undefined) return there;
    this.close();
    if (this.path !== MEMORY) this.#clearPath();
    const db = this.#connect();
    if (!isMade(db)) createSegmentTables(db, this.#epoch());
    this.#db = db;
    this.#identity = identityOf(this.path);
    this.#condemned = false;
    return db;
  }

  /** Marks the file as damaged: it is replaced before the next write. */
  condemn(): void {
    this.close();
    this.#condemned = true;
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
    this.#identity = "";
  }

  #readBlob(tenant: number, key: BlobKey): BlobAnswer {
    const db = this.#db ?? this.open();
    if (db === undefined) return "missing";
    return quietly(() => readBlob(db, tenant, key, this.#checked)) ?? "damaged";
  }

  /** Undefined if there is no file, or if one of the blobs cannot be read. */
  #readList(tenant: number, segment: number, keys: readonly BlobKey[]): BlobAnswer[] | undefined {
    const db = this.#db ?? this.open();
    if (db === undefined) return undefined;
    const blobs = keys.map(({ blob }) => blob);
    return quietly(() => readBlobs(db, tenant, segment, blobs, this.#checked));
  }

  #connect(): SqliteConnection {
    return new SqliteConnection(this.path, {
      readOnly: this.#readOnly,
      cacheKib: CACHE_KIB,
      // `syncSegments` syncs where durability matters.
      durability: "process",
    });
  }

  #clearPath(): void {
    if (existsSync(this.path) && statSync(this.path).size > 0) {
      const ours = quietly(() => {
        const db = this.#connect();
        const known = quietly(() => isOurs(db));
        db.close();
        return known;
      });
      // The database before its log: SQLite drops a log beside an empty database.
      renameSync(this.path, `${this.path}.aside`);
      for (const suffix of ["-wal", "-shm"]) rmSync(`${this.path}${suffix}`, { force: true });
      if (ours) rmSync(`${this.path}.aside`);
    }
    // Owner only, as the store. An existing one is not opened here: see sqlite-file.ts.
    if (!existsSync(this.path)) closeSync(openSync(this.path, "a", 0o600));
  }
}

/** Undefined if the file itself is damaged; a lock is transient. */
function quietly<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch (error) {
    if (isBusy(error)) throw error;
    return undefined;
  }
}

/** Device and inode: changes when the path refers to another file. */
function identityOf(path: string): string {
  if (path === MEMORY) return MEMORY;
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}/${found.ino}`;
}
