/** The schema of the segment file. Never migrated: a file of another version is rebuilt. */

import { MEMORY } from "../../store-options.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

/** "BkSx": marks the file as ours. */
const APPLICATION_ID = 0x426b5378;

/** A file of another version is moved aside, and the index rebuilt. */
const VERSION = 2;

/**
 * Most blobs have 16 KB, long lists more. Reading one of 256 KB takes 0.18 ms from pages of 4 KB,
 * 0.13 from 8 and 0.11 from 16; a tenant with one small segment wastes half a page.
 */
export const SEGMENT_PAGE_BYTES = 8_192;

const SQL = statements("segment_schema", {
  readEpoch: `SELECT value FROM index_store WHERE key = 'epoch'`,
  setEpoch: `INSERT INTO index_store (key, value) VALUES ('epoch', ?)`,
});

/** Whether the file is ours, of any version and store. */
export function isOurs(db: SqliteConnection): boolean {
  return db.get("PRAGMA application_id")?.["application_id"] === APPLICATION_ID;
}

/** Whether the file holds segments of the store with this epoch, in this version. */
export function isUsable(db: SqliteConnection, epoch: string): boolean {
  return (
    isOurs(db) &&
    db.get("PRAGMA user_version")?.["user_version"] === VERSION &&
    db.get(SQL.readEpoch)?.["value"] === epoch
  );
}

export function isMade(db: SqliteConnection): boolean {
  return Number(db.get("SELECT count(*) AS count FROM sqlite_schema")?.["count"]) > 0;
}

/** Makes the tables in an empty file. */
export function createSegmentTables(db: SqliteConnection, epoch: string): void {
  db.exec(`PRAGMA page_size = ${SEGMENT_PAGE_BYTES}`);
  // Merged segments leave free pages, which are vacuumed.
  db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  if (db.path !== MEMORY) db.get("PRAGMA journal_mode = WAL");
  db.begin();
  try {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${VERSION}`);
    db.exec(SEGMENT_TABLES);
    db.run(SQL.setEpoch, epoch);
    db.commit();
  } catch (error) {
    db.rollback();
    throw error;
  }
}

const SEGMENT_TABLES = `
CREATE TABLE index_store (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE index_segments (
  tenant INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  dropped_at INTEGER,
  PRIMARY KEY (tenant, segment)
) WITHOUT ROWID;

CREATE TABLE index_blobs (
  tenant INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  blob INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, segment, blob)
);
`;
