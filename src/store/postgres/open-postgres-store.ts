/** Opens a store on PostgreSQL by its address. */

import { describeConflict, type IndexSetting, warnOfConflict } from "../index/stored-indexing.ts";
import type { Store, StoreOptions } from "../store.ts";
import { ChangeSignal } from "./change-signal.ts";
import { makeReady } from "./make-ready.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { PostgresStore } from "./postgres-store.ts";

/** `address` is `postgres://user:password@host:port/database`. */
export async function openPostgresStore(
  address: string,
  options: StoreOptions = {},
): Promise<Store> {
  const db = new PostgresDatabase(address, options);
  let setting: IndexSetting;
  try {
    setting = await makeReady(db, options);
  } catch (error) {
    await db.close();
    throw error;
  }
  const conflict = describeConflict(options.indexing ?? {}, setting);
  if (conflict !== undefined) (options.onWarning ?? warnOfConflict)(conflict);
  const indexing = { ...options.indexing, ...setting };
  return new PostgresStore(db, new ChangeSignal(address, db), { ...options, indexing });
}
