import type { Migration } from "../../migration.ts";

/**
 * The bytes of ingested files, and which sessions were derived from them. A part is a range of a file
 * as one zstd frame with a checksum. An older version would leave the bytes of a
 * session behind that it deletes, so it may not write.
 */
export const ORIGINALS: Migration = {
  version: 13,
  name: "originals",
  minReader: 11,
  minWriter: 13,
  sql: `
CREATE TABLE originals (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  reader INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITHOUT ROWID;

CREATE TABLE original_parts (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, workstation, path, start)
);

CREATE TABLE original_sessions (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
) WITHOUT ROWID;
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);
`,
};
