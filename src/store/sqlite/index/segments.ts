/** Rows of segments: writing, reading, dropping. */

import { BackscrollError } from "../../../model/errors.ts";
import type { BlobAnswer, BlobKey } from "../../../search/port.ts";
import { type CheckedBlobs, checksumOf, toBlobAnswer } from "../../index/blob-check.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { NOW, statements } from "../sqlite-statements.ts";
import { SEGMENT_PAGE_BYTES } from "./segment-schema.ts";

const SQL = statements("segments", {
  insertSegment: `INSERT INTO index_segments (tenant, segment, created_at)
    VALUES (?, ?, ${NOW}) ON CONFLICT DO NOTHING`,
  insertBlob: `INSERT INTO index_blobs (tenant, segment, blob, crc, bytes) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (tenant, segment, blob) DO UPDATE SET crc = excluded.crc, bytes = excluded.bytes`,
  anything: `SELECT 1 FROM index_store`,
  readBlob: `SELECT crc, bytes FROM index_blobs WHERE tenant = ? AND segment = ? AND blob = ?`,
  readBlobs: `SELECT blob, crc, bytes FROM index_blobs
    WHERE tenant = ? AND segment = ? AND blob IN (SELECT value FROM json_each(?))`,
  /** Marks every segment that the manifest does not name. */
  drop: `UPDATE index_segments SET dropped_at = ${NOW} WHERE tenant = ? AND dropped_at IS NULL
    AND segment NOT IN (SELECT value FROM json_each(?))`,
  /** Unmarks a segment that a manifest names again, or for the first time. */
  keep: `UPDATE index_segments SET dropped_at = NULL WHERE tenant = ? AND dropped_at IS NOT NULL
    AND segment IN (SELECT value FROM json_each(?))`,
  /** Marks a segment that no manifest will name again. */
  retire: `UPDATE index_segments SET dropped_at = 0
    WHERE tenant = ? AND segment IN (SELECT value FROM json_each(?))`,
  listStored: `SELECT segment FROM index_segments WHERE tenant = ?`,
  listOld: `SELECT segment FROM index_segments WHERE tenant = ? AND dropped_at <= ${NOW} - ?`,
  firstBlobs: `SELECT blob FROM index_blobs WHERE tenant = ? AND segment = ? LIMIT ?`,
  deleteBlob: `DELETE FROM index_blobs WHERE tenant = ? AND segment = ? AND blob = ?`,
  deleteSegment: `DELETE FROM index_segments WHERE tenant = ? AND segment = ?`,
});

/** Blobs deleted per transaction: overwriting them with zeros takes time. */
const DELETED_AT_ONCE = 64;

/** Approximate pages logged per deleted blob: zeros, and the page that named it. */
const PAGES_PER_DELETED = 3;

export function readBlob(
  db: SqliteConnection,
  tenant: number,
  key: BlobKey,
  checked: CheckedBlobs,
): BlobAnswer {
  return toBlobAnswer(db.get(SQL.readBlob, tenant, key.segment, key.blob), key, checked);
}

/**
 * Batched read: the blobs of one segment, in the order of `blobs`. SQLite looks them up in key order,
 * in half the time of single reads in random order.
 */
export function readBlobs(
  db: SqliteConnection,
  tenant: number,
  segment: number,
  blobs: readonly number[],
  checked: CheckedBlobs,
): BlobAnswer[] {
  const names = ["blob", "crc", "bytes"] as const;
  const rows = db.records(SQL.readBlobs, names, tenant, segment, JSON.stringify(blobs));
  const found = new Map(rows.map((row) => [row.blob as number, row]));
  return blobs.map((blob) => toBlobAnswer(found.get(blob), { segment, blob }, checked));
}

/** Begins a read transaction; its first read fixes the snapshot. */
export function takeSnapshot(db: SqliteConnection): void {
  db.run("BEGIN");
  db.get(SQL.anything);
}

/** Inside the caller's transaction. */
export function writeBlobs(
  db: SqliteConnection,
  tenant: number,
  segment: number,
  blobs: readonly { readonly blob: number; readonly bytes: Uint8Array }[],
): void {
  db.run(SQL.insertSegment, tenant, segment);
  for (const { blob, bytes } of blobs) {
    db.run(SQL.insertBlob, tenant, segment, blob, checksumOf(bytes), bytes);
    db.pagesWritten += 1 + bytes.length / SEGMENT_PAGE_BYTES;
  }
}

/** Starts the grace period of segments that the manifest does not name. */
export function dropOthers(db: SqliteConnection, tenant: number, named: readonly number[]): void {
  const list = JSON.stringify(named);
  db.run(SQL.drop, tenant, list);
  db.run(SQL.keep, tenant, list);
}

/**
 * Ends the grace period of merged segments: the next cleaning deletes them. Searches read them from
 * their snapshot.
 */
export function retire(db: SqliteConnection, tenant: number, joined: readonly number[]): void {
  if (joined.length > 0) db.run(SQL.retire, tenant, JSON.stringify(joined));
}

/** The stored segments; none without a readable file. */
export function listStored(db: SqliteConnection | undefined, tenant: number): number[] {
  try {
    return (db?.all(SQL.listStored, tenant) ?? []).map((row) => Number(row["segment"]));
  } catch (error) {
    if (BackscrollError.is(error, "store_corrupt")) return [];
    throw error;
  }
}

export function listOld(db: SqliteConnection, tenant: number, keptMs: number): number[] {
  return db.all(SQL.listOld, tenant, keptMs).map((row) => Number(row["segment"]));
}

/** Deletes a part of a segment; false once it is complete. Inside a transaction. */
export function deletePart(db: SqliteConnection, tenant: number, segment: number): boolean {
  const blobs = db.all(SQL.firstBlobs, tenant, segment, DELETED_AT_ONCE);
  for (const row of blobs) db.run(SQL.deleteBlob, tenant, segment, Number(row["blob"]));
  db.pagesWritten += blobs.length * PAGES_PER_DELETED;
  if (blobs.length === DELETED_AT_ONCE) return true;
  db.run(SQL.deleteSegment, tenant, segment);
  return false;
}
