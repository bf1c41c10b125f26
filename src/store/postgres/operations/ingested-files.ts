/** Checkpoints of ingested files: their read positions. */

import type { IngestedFile } from "../../ingested-file.ts";
import {
  INGESTED_FILE_COLUMNS,
  INGESTED_FILE_FACTS,
  stateBytes,
  toIngestedFile,
} from "../../rows/ingested-file-row.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant } from "./feed.ts";

const SQL = statements("ingested_files", {
  find: `SELECT ${INGESTED_FILE_COLUMNS} FROM ingested_files
    WHERE tenant = $1 AND workstation = $2 AND path = ANY ($3::text[])`,
  findFacts: `SELECT ${INGESTED_FILE_FACTS} FROM ingested_files
    WHERE tenant = $1 AND workstation = $2 AND path = ANY ($3::text[])`,
  put: `INSERT INTO ingested_files (tenant, workstation, path, source, size, mtime, read_offset,
      read_lines, tail_hash, state, seen_at)
    SELECT $1::bigint, $2::text, put.* FROM unnest($3::text[], $4::text[], $5::bigint[],
      $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::bigint[]) AS put
    ON CONFLICT (tenant, workstation, path) DO UPDATE SET source = excluded.source,
      size = excluded.size, mtime = excluded.mtime, read_offset = excluded.read_offset,
      read_lines = excluded.read_lines, tail_hash = excluded.tail_hash, state = excluded.state,
      seen_at = excluded.seen_at`,
});

export async function findIngestedFiles(
  tx: Transaction,
  workstation: string,
  paths: readonly string[],
  withState = true,
): Promise<IngestedFile[]> {
  const sql = withState ? SQL.find : SQL.findFacts;
  return (await tx.all(sql, tx.tenant, workstation, paths)).map(toIngestedFile);
}

export async function putIngestedFiles(
  tx: Transaction,
  workstation: string,
  files: readonly IngestedFile[],
  now: number,
): Promise<void> {
  await ensureTenant(tx, now);
  // One row per path: a statement cannot change the same row twice.
  const rows = [...new Map(files.map((file) => [file.path, file])).values()].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  );
  tx.defer(
    SQL.put,
    tx.tenant,
    workstation,
    rows.map(({ path }) => path),
    rows.map(({ source }) => source),
    rows.map(({ size }) => size),
    rows.map(({ mtimeUs }) => mtimeUs),
    rows.map(({ offset }) => offset),
    rows.map(({ lines }) => lines),
    rows.map(({ tailHash }) => tailHash),
    rows.map(stateBytes),
    rows.map(({ seenAt }) => seenAt),
  );
}
