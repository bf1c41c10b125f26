/** Rows of segments: writing, reading, dropping. */

import type { BlobAnswer, BlobKey } from "../../../search/port.ts";
import { CheckedBlobs, checksumOf, toBlobAnswer } from "../../index/blob-check.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const SQL = statements("segments", {
  insertSegment: `INSERT INTO index_segments (tenant, segment, created_at)
    VALUES ($1, $2, ${NOW}) ON CONFLICT DO NOTHING`,
  insertBlob: `INSERT INTO index_blobs (tenant, segment, blob, crc, bytes)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, segment, blob)
    DO UPDATE SET crc = excluded.crc, bytes = excluded.bytes`,
  want: `SELECT set_config('backscroll.segments', $1, true), set_config('backscroll.blobs', $2, true)`,
  /** The range is passed in settings, because COPY takes no parameters. */
  readBlobs: `COPY (SELECT wanted.rank, b.crc, b.bytes
    FROM unnest(string_to_array(current_setting('backscroll.segments'), ',')::bigint[],
      string_to_array(current_setting('backscroll.blobs'), ',')::bigint[])
      WITH ORDINALITY AS wanted (segment, blob, rank)
    JOIN index_blobs b ON b.tenant = current_setting('backscroll.tenant')::bigint
      AND b.segment = wanted.segment AND b.blob = wanted.blob) TO STDOUT (FORMAT binary)`,
  /** Marks every segment that the manifest does not name. */
  drop: `UPDATE index_segments SET dropped_at = ${NOW}
    WHERE tenant = $1 AND dropped_at IS NULL AND segment <> ALL ($2::bigint[])`,
  /** Unmarks a segment that a manifest names after all. */
  keep: `UPDATE index_segments SET dropped_at = NULL
    WHERE tenant = $1 AND dropped_at IS NOT NULL AND segment = ANY ($2::bigint[])`,
  listStored: `SELECT segment FROM index_segments WHERE tenant = $1`,
  deleteOld: `DELETE FROM index_segments WHERE tenant = $1 AND dropped_at <= ${NOW} - $2::bigint
    RETURNING segment`,
  deleteBlobs: `DELETE FROM index_blobs WHERE tenant = $1 AND segment = ANY ($2::bigint[])`,
});

export async function readBlobs(
  tx: Transaction,
  keys: readonly BlobKey[],
): Promise<readonly BlobAnswer[]> {
  if (keys.length === 0) return [];
  const segments = keys.map(({ segment }) => segment).join();
  const blobs = keys.map(({ blob }) => blob).join();
  const [, rows = []] = await tx.together([
    query(SQL.want, segments, blobs),
    { sql: SQL.readBlobs, values: [], copied: { rank: "number", crc: "number", bytes: "bytes" } },
  ]);
  const found = new Map(rows.map((row) => [Number(row["rank"]), row]));
  const checked = new CheckedBlobs();
  return keys.map((key, i) => toBlobAnswer(found.get(i + 1), key, checked));
}

export function writeBlobs(
  tx: Transaction,
  segment: number,
  blobs: readonly { readonly blob: number; readonly bytes: Uint8Array }[],
): void {
  tx.defer(SQL.insertSegment, tx.tenant, segment);
  // One statement each: a parameter travels as bytes, an array element as hex.
  for (const { blob, bytes } of blobs) {
    tx.defer(SQL.insertBlob, tx.tenant, segment, blob, checksumOf(bytes), Buffer.from(bytes));
  }
}

/** Starts the grace period of segments that the manifest does not name. */
export function dropOthers(tx: Transaction, named: readonly number[]): void {
  tx.defer(SQL.drop, tx.tenant, named);
  tx.defer(SQL.keep, tx.tenant, named);
}

export async function listStored(tx: Transaction): Promise<number[]> {
  const rows = await tx.all(SQL.listStored, tx.tenant);
  return rows.map((row) => Number(row["segment"]));
}

export async function deleteOld(tx: Transaction, keptMs: number): Promise<void> {
  const rows = await tx.all(SQL.deleteOld, tx.tenant, keptMs);
  if (rows.length === 0) return;
  const segments = rows.map((row) => Number(row["segment"]));
  tx.defer(SQL.deleteBlobs, tx.tenant, segments);
}
