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
import { openStore } from "./open.ts";
import type { RowBatch } from "./store/records.ts";

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
  return whenWhole(file, (partial) => copyStore(address, partial, options));
}

/**
 * As `backup`, for a store that is open in this process. An exception of `onProgress` aborts it.
 */
export async function backupEngine(
  engine: Engine,
  file: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  return whenWhole(file, (partial) =>
    // On threads, so that closing it, with its checkpoint, does not block this one.
    fillStore(inTurns(engine.dump()), partial, { ...options, inThread: false }),
  );
}

/** Fills the store at `address`, which must be new or empty, from a backup. */
export async function restore(
  file: string,
  address: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  checkFields(options, "options", INPUTS.copy);
  const source = resolve(file);
  return { file: source, rows: await copyStore(source, address, options) };
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
