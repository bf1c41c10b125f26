/** The checksums of a backup in its file. */

import { SEAL_TABLE } from "../backup-seal.ts";
import { SqliteConnection, type SqlRow } from "./sqlite-driver.ts";

/** Nothing else may have the file open, so that all of it is in the file afterwards. */
export function sealBackup(path: string, sums: readonly (readonly [string, string])[]): void {
  const db = new SqliteConnection(path);
  try {
    db.begin();
    db.exec(`CREATE TABLE ${SEAL_TABLE} (part TEXT, sha256 TEXT)`);
    for (const [part, sum] of sums) db.run(`INSERT INTO ${SEAL_TABLE} VALUES (?, ?)`, part, sum);
    db.commit();
  } finally {
    db.close();
  }
}

/** The seal as a batch of the dump; undefined: the store has none. */
export function sealRows(db: SqliteConnection): { table: string; rows: SqlRow[] } | undefined {
  if (!hasSeal(db)) return undefined;
  return { table: SEAL_TABLE, rows: db.all(`SELECT part, sha256 FROM ${SEAL_TABLE}`) };
}

/** Before the first write of the file as an ordinary store. */
export function dropSeal(db: SqliteConnection): void {
  if (hasSeal(db)) db.exec(`DROP TABLE IF EXISTS ${SEAL_TABLE}`);
}

function hasSeal(db: SqliteConnection): boolean {
  const sql = `SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = '${SEAL_TABLE}'`;
  return db.get(sql) !== undefined;
}
