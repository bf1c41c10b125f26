/** Opens a database file: log check, migration, and reported losses. */

import { pause } from "../../../async/pause.ts";
import type { StoreLoss } from "../../../model/store-loss.ts";
import type { IndexSetting } from "../../index/stored-indexing.ts";
import type { ExecutorOptions } from "../executor/executor.ts";
import { readSetting, settleSetting } from "../index/setting.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy } from "../sqlite-errors.ts";
import { checkVersion, migrate, refuseForeign } from "../sqlite-schema.ts";
import { acceptIndexLosses, findIndexLosses } from "./index-ahead.ts";
import { acceptKeptLosses, listKeptLosses } from "./kept-logs.ts";
import { holdStore } from "./look-at-log.ts";
import { copyForReading } from "./read-only-folder.ts";

export interface OpenedFile {
  /** The store's path. `options.path` differs if it is read from a copy. */
  readonly path: string;
  readonly options: ExecutorOptions;
  /** Unacknowledged losses. */
  readonly losses: readonly StoreLoss[];
  /** Those that could not be recorded. */
  readonly unrecorded: readonly StoreLoss[];
  /** Called once, when every connection is closed. */
  release(): void;
}

/** Checks the log first: SQLite truncates it where it is damaged. */
export async function openFile(wanted: ExecutorOptions): Promise<OpenedFile> {
  const { path, readOnly, busyTimeoutMs } = wanted;
  const held = await holdStore(path, readOnly);
  let release = held.release;
  try {
    const copy = readOnly ? copyForReading(path) : undefined;
    if (copy !== undefined) {
      release = () => {
        held.release();
        copy.remove();
      };
    }
    const options = copy === undefined ? wanted : { ...wanted, path: copy.path };
    const { recorded, found, setting } = await withoutBusy(busyTimeoutMs, () =>
      makeReady(options, held.isBroken),
    );
    const unkept = held.unkept === undefined ? [] : [held.unkept];
    const unrecorded = [...unkept, ...(readOnly ? found : [])];
    const losses = [...listKeptLosses(path), ...unkept, ...recorded, ...found];
    const indexing = { ...options.indexing, ...setting };
    return { path, options: { ...options, indexing }, losses, unrecorded, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Acknowledges the recorded losses and gives them. */
export async function acceptLosses(path: string, busyTimeoutMs: number): Promise<StoreLoss[]> {
  const db = new SqliteConnection(path);
  try {
    const ofIndex = await withoutBusy(busyTimeoutMs, () => acceptIndexLosses(db));
    return [...acceptKeptLosses(path), ...ofIndex];
  } finally {
    db.close();
  }
}

/** Opening takes locks too: several processes may create or migrate one file at once. */
export async function withoutBusy<Result>(
  timeoutMs: number,
  action: () => Result,
): Promise<Result> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      await pause(1 + Math.random() * 5);
    }
  }
}

/** Checks or migrates the schema on its own connection, and checks the index. */
function makeReady(
  { path, readOnly, indexing }: ExecutorOptions,
  isBroken: boolean,
): ReturnType<typeof findIndexLosses> & { readonly setting: IndexSetting } {
  const db = new SqliteConnection(path, { readOnly });
  try {
    if (readOnly) refuseForeign(db);
    else migrate(db);
    checkVersion(db, readOnly ? "read" : "write");
    // Restarts the log, so that the frames after its break are not found again. While another
    // process reads it, the kept copy identifies the known loss.
    if (isBroken && !readOnly) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const setting = readOnly ? readSetting(db, indexing) : settleSetting(db, indexing);
    return { ...findIndexLosses(db, readOnly), setting };
  } finally {
    db.close();
  }
}
