/** Checkpoints of ingested files: their read positions. */

import type { IngestedFile } from "../../ingested-file.ts";
import {
  INGESTED_FILE_COLUMNS,
  INGESTED_FILE_FACTS,
  stateBytes,
  toIngestedFile,
} from "../../rows/ingested-file-row.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant } from "./feed.ts";

const SQL = statements("ingested_files", {
  find: `SELECT ${INGESTED_FILE_COLUMNS} FROM ingested_files
    WHERE tenant = ? AND workstation = ? AND path IN (SELECT value FROM json_each(?))`,
  findFacts: `SELECT ${INGESTED_FILE_FACTS} FROM ingested_files
    WHERE tenant = ? AND workstation = ? AND path IN (SELECT value FROM json_each(?))`,
  put: `INSERT INTO ingested_files (tenant, workstation, path, source, size, mtime, read_offset,
      read_lines, tail_hash, state, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, workstation, path) DO UPDATE SET source = excluded.source,
      size = excluded.size, mtime = excluded.mtime, read_offset = excluded.read_offset,
      read_lines = excluded.read_lines, tail_hash = excluded.tail_hash, state = excluded.state,
      seen_at = excluded.seen_at`,
});

export function findIngestedFiles(
  db: SqliteConnection,
  name: string,
  workstation: string,
  paths: readonly string[],
  withState = true,
): IngestedFile[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  const sql = withState ? SQL.find : SQL.findFacts;
  return db.all(sql, tenant, workstation, JSON.stringify(paths)).map(toIngestedFile);
}

export function putIngestedFiles(
  db: SqliteConnection,
  name: string,
  workstation: string,
  files: readonly IngestedFile[],
  now: number,
): void {
  const tenant = ensureTenant(db, name, now);
  for (const file of files) {
    db.run(
      SQL.put,
      tenant,
      workstation,
      file.path,
      file.source,
      file.size,
      file.mtimeUs,
      file.offset,
      file.lines,
      file.tailHash,
      stateBytes(file),
      file.seenAt,
    );
  }
}
