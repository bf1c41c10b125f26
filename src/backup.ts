/**
 * Copies of a whole store: backup, restore, and moves between backends.
 *
 * A backup is an ordinary SQLite store, from either backend, and a consistent snapshot (online
 * backup). (A database file copied by hand, without its write-ahead log, lacks the newest turns.)
 */

import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Engine } from "./engine/engine.ts";
import { BackscrollError } from "./model/errors.ts";
import { checkFields } from "./model/input.ts";
import { INPUTS } from "./model/inputs/index.ts";
import type { StoreLoss } from "./model/store-loss.ts";
import { backendOf, openStore, sealBackup } from "./open.ts";
import { backupDamaged, checkedRows, sumsOf } from "./store/backup-seal.ts";
import type { RowBatch } from "./store/records.ts";
import type { Store } from "./store/store.ts";
import { MEMORY } from "./store/store-options.ts";

export interface CopyReport {
  readonly file: string;
  readonly rows: number;
}

export interface CopyOptions {
  readonly onProgress?: (rows: number) => void;
  /** `onLoss` of `open`, for the source store. */
  readonly onLoss?: (loss: StoreLoss) => void;
}

/** Writes a backup of the store at `address` to `file`, which must not exist. */
export async function backup(
  address: string,
  file: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  checkFields(options, "options", INPUTS.copy);
  return whenWhole(file, async (partial) => {
    const rows = await copyStore(address, partial, options);
    await seal(partial);
    return rows;
  });
}

/**
 * As `backup`, for a store that is open in this process. An exception of `onProgress` aborts it.
 */
export async function backupEngine(
  engine: Engine,
  file: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  return whenWhole(file, async (partial) => {
    // On threads, so that closing it, with its checkpoint, does not block this one.
    const rows = await fillStore(inTurns(engine.dump()), partial, { ...options, inThread: false });
    await seal(partial);
    return rows;
  });
}

/** Fills the store at `address`, which must be new or empty, from a backup. */
export async function restore(
  file: string,
  address: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  checkFields(options, "options", INPUTS.copy);
  const source = resolve(file);
  const isFile = backendOf(address) === "sqlite" && address !== MEMORY;
  // A database server's tables are not replaced at the end, so the backup is checked before.
  if (!isFile) await verifyBackup(source);
  const fill = (to: string) => restoreTo(source, to, options);
  if (!isFile || existsSync(address)) return { file: source, rows: await fill(address) };
  return { file: source, rows: (await whenWhole(address, fill)).rows };
}

export interface BackupReport {
  readonly file: string;
  readonly rows: number;
  /** False: it has no checksums, since 0.1.0 made it or it was opened for writing since. */
  readonly sealed: boolean;
}

/**
 * Reads all of a backup and compares it with its checksums. Throws `store_corrupt` with the first
 * damaged part.
 */
export async function verifyBackup(file: string, options: CopyOptions = {}): Promise<BackupReport> {
  checkFields(options, "options", INPUTS.copy);
  const path = resolve(file);
  let [rows, sealed] = [0, false];
  const source = await openBackup(path, options);
  try {
    const checked = checkedRows(path, source.dump(), (isSealed) => {
      sealed = isSealed;
    });
    for await (const batch of checked) {
      rows += batch.rows.length;
      options.onProgress?.(rows);
    }
  } finally {
    await source.close();
  }
  return { file: path, rows, sealed };
}

/** The target of a backup. Throws `store_not_empty` if it exists: a backup never overwrites. */
export function resolveNew(file: string): string {
  const path = resolve(file);
  if (!existsSync(path)) return path;
  throw new BackscrollError("store_not_empty", `${path} exists already; name a new file`, {
    details: { path },
  });
}

/** Write to a temporary name, then rename: a partial backup never looks like a whole one. */
async function whenWhole(
  file: string,
  copy: (partial: string) => Promise<number>,
): Promise<CopyReport> {
  const target = resolveNew(file);
  const partial = `${target}.partial`;
  removeStore(partial);
  try {
    const rows = await copy(partial);
    renameSync(partial, target);
    return { file: target, rows };
  } finally {
    removeStore(partial);
  }
}

/** Reads the copy again: what it says of itself is what lies on the disk. */
async function seal(partial: string): Promise<void> {
  const copy = await openStore(partial, { readOnly: true, inThread: true });
  const sums = await sumsOf(inTurns(copy.dump())).finally(() => copy.close());
  sealBackup(partial, sums);
}

async function restoreTo(file: string, to: string, options: CopyOptions): Promise<number> {
  const source = await openBackup(file, options);
  try {
    const rows = checkedRows(file, source.dump());
    return await fillStore(rows, to, { ...options, inThread: true });
  } catch (error) {
    // Rows without checksums may be read and then break a rule of the tables.
    if (BackscrollError.is(error)) throw error;
    throw backupDamaged(file, "its rows contradict each other", error);
  } finally {
    await source.close();
  }
}

async function openBackup(file: string, { onLoss }: CopyOptions): Promise<Store> {
  try {
    const told = onLoss === undefined ? {} : { onLoss };
    return await openStore(file, { readOnly: true, inThread: true, ...told });
  } catch (error) {
    if (BackscrollError.is(error) && error.code !== "store_corrupt") throw error;
    throw backupDamaged(file, "it cannot be opened", error);
  }
}

async function copyStore(from: string, to: string, options: CopyOptions): Promise<number> {
  const { onLoss } = options;
  const source = await openStore(from, {
    readOnly: true,
    inThread: true,
    ...(onLoss === undefined ? {} : { onLoss }),
  });
  try {
    return await fillStore(source.dump(), to, { ...options, inThread: true });
  } finally {
    await source.close();
  }
}

/** Atomic. The copy has a new epoch: feed cursors of the original expire. */
async function fillStore(
  batches: AsyncIterable<RowBatch>,
  to: string,
  options: CopyOptions & { readonly inThread: boolean },
): Promise<number> {
  const target = await openStore(to, { inThread: options.inThread });
  try {
    let rows = 0;
    await target.load(
      counted(batches, (batch) => {
        rows += batch.rows.length;
        options.onProgress?.(rows);
      }),
    );
    return rows;
  } finally {
    await target.close();
  }
}

/** Yields to the event loop after each batch: rows are read and written on this thread. */
async function* inTurns(batches: AsyncIterable<RowBatch>): AsyncGenerator<RowBatch> {
  for await (const batch of batches) {
    yield batch;
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

async function* counted(
  batches: AsyncIterable<RowBatch>,
  count: (batch: RowBatch) => void,
): AsyncGenerator<RowBatch> {
  for await (const batch of batches) {
    count(batch);
    yield batch;
  }
}

function removeStore(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal", "-index", "-index-wal", "-index-shm"])
    rmSync(`${path}${suffix}`, { force: true });
}
