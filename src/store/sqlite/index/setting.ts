/** The index setting in the table `store`. */

import type { IndexingOptions } from "../../index/indexing-options.ts";
import {
  decodeSetting,
  encodeSetting,
  firstSetting,
  INDEXING_KEY,
  type IndexSetting,
} from "../../index/stored-indexing.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("index-setting", {
  read: `SELECT value FROM store WHERE key = '${INDEXING_KEY}'`,
  create: `INSERT OR IGNORE INTO store (key, value) VALUES ('${INDEXING_KEY}', ?)`,
  replace: `INSERT INTO store (key, value) VALUES ('${INDEXING_KEY}', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
});

/** `requested` is the default for missing values. */
export function readSetting(db: SqliteConnection, requested: IndexingOptions): IndexSetting {
  return decodeSetting(db.get(SQL.read)?.["value"]) ?? firstSetting(requested);
}

/** The store's setting; a store without one gets `requested`. */
export function settleSetting(db: SqliteConnection, requested: IndexingOptions): IndexSetting {
  if (decodeSetting(db.get(SQL.read)?.["value"]) === undefined) {
    db.run(SQL.create, encodeSetting(firstSetting(requested)));
  }
  return readSetting(db, requested);
}

export function writeSetting(db: SqliteConnection, setting: IndexSetting): void {
  db.run(SQL.replace, encodeSetting(setting));
}
