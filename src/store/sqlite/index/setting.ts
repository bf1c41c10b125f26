/** The index setting in the table `store`. */

import type { IndexingOptions } from "../../index/indexing-options.ts";
import {
  decodeSetting,
  encodeSetting,
  firstSetting,
  INDEXING_KEY,
  type StoredSetting,
  settled,
} from "../../index/stored-indexing.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("index-setting", {
  read: `SELECT value FROM store WHERE key = '${INDEXING_KEY}'`,
  replace: `INSERT INTO store (key, value) VALUES ('${INDEXING_KEY}', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
});

/** `requested` is the default for missing values. */
export function readSetting(db: SqliteConnection, requested: IndexingOptions): StoredSetting {
  return decodeSetting(db.get(SQL.read)?.["value"]) ?? firstSetting(requested);
}

/** The store's setting; a store without one gets `requested`. */
export function settleSetting(db: SqliteConnection, requested: IndexingOptions): StoredSetting {
  const needed = () => settled(decodeSetting(db.get(SQL.read)?.["value"]), requested);
  if (needed() === undefined) return readSetting(db, requested);
  // Another process may open the store at the same time: the first key is kept.
  db.begin();
  const setting = needed();
  if (setting !== undefined) writeSetting(db, setting);
  db.commit();
  return readSetting(db, requested);
}

export function writeSetting(db: SqliteConnection, setting: StoredSetting): void {
  db.run(SQL.replace, encodeSetting(setting));
}
