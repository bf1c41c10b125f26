/**
 * Content-addressed storage of large payloads: compressed, deduplicated per tenant, and
 * reference-counted by entries.
 */

import type { Block } from "../../../model/block.ts";
import { blobsOf, nestedBlobsOf, type Payload } from "../../../transcript/content.ts";
import { fromHex } from "../../../transcript/hash.ts";
import { isSound } from "../../index/sound-content.ts";
import {
  compressPayload,
  readPayload,
  readSoundPayload,
  type StoredPayload,
} from "../../payload-codec.ts";
import type { AppendRequest } from "../../records.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findTenant } from "./feed.ts";

const SQL = statements("blobs", {
  exists: `SELECT 1 AS found FROM blobs WHERE tenant = ? AND hash = ?`,
  insert: `INSERT INTO blobs (tenant, hash, codec, size, bytes) VALUES (?, ?, ?, ?, ?)`,
  hold: `INSERT INTO entry_blobs (tenant, session, sequence, hash) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  holdSame: `INSERT INTO entry_blobs (tenant, session, sequence, hash)
    SELECT e.tenant, ?, ?, b.hash FROM entries e JOIN entry_blobs b
      ON b.tenant = e.tenant AND b.session = e.session AND b.sequence = e.sequence
    WHERE e.tenant = ? AND e.id = ?`,
  read: `SELECT codec, size, bytes FROM blobs WHERE tenant = ? AND hash = ?`,
  release: `DELETE FROM entry_blobs WHERE tenant = ? AND session = ?`,
  heldBySession: `SELECT DISTINCT hash FROM entry_blobs WHERE tenant = ? AND session = ?`,
  releaseThrough: `DELETE FROM entry_blobs WHERE tenant = ? AND session = ? AND sequence <= ?`,
  heldThrough: `SELECT DISTINCT hash FROM entry_blobs
    WHERE tenant = ? AND session = ? AND sequence <= ?`,
  releaseEntry: `DELETE FROM entry_blobs WHERE tenant = ? AND session = ? AND sequence = ?`,
  heldByEntry: `SELECT hash FROM entry_blobs WHERE tenant = ? AND session = ? AND sequence = ?`,
  collect: `DELETE FROM blobs WHERE tenant = ? AND hash = ?
    AND NOT EXISTS (SELECT 1 FROM entry_blobs e WHERE e.tenant = ?1 AND e.hash = ?2)`,
  garbage: `SELECT hash FROM blobs b WHERE b.tenant = ?
    AND NOT EXISTS (SELECT 1 FROM entry_blobs e WHERE e.tenant = b.tenant AND e.hash = b.hash)
    LIMIT ?`,
});

/** Payloads compressed before the write lock was taken. */
const compressed = new WeakMap<Uint8Array, StoredPayload>();

/** Outside of a transaction: compresses the payloads that an append will probably store. */
export function compressAhead(db: SqliteConnection, name: string, request: AppendRequest): void {
  const tenant = findTenant(db, name);
  for (const { payloads } of request.entries) {
    for (const { hash, bytes } of payloads) {
      if (compressed.has(bytes)) continue;
      const isThere =
        tenant !== undefined && db.get(SQL.exists, tenant, fromHex(hash)) !== undefined;
      if (!isThere) compressed.set(bytes, compressPayload(bytes));
    }
  }
}

/** Stores missing payloads, and adds the entry's references to all. */
export function storePayloads(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: number,
  payloads: readonly Payload[],
): void {
  for (const { hash, bytes } of payloads) {
    const address = fromHex(hash);
    if (db.get(SQL.exists, tenant, address) === undefined) {
      const stored = compressed.get(bytes) ?? compressPayload(bytes);
      db.run(SQL.insert, tenant, address, stored.codec, bytes.length, stored.bytes);
      db.pagesWritten += stored.bytes.length / 2_048;
    }
    db.run(SQL.hold, tenant, session, sequence, address);
  }
}

/** Adds an original's references to its copy, without reading the payloads. */
export function holdPayloadsOf(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: number,
  originalId: string,
): void {
  db.run(SQL.holdSame, session, sequence, tenant, originalId);
}

/** The payloads that `contents` name, by hash. Throws `store_corrupt` for a damaged one. */
export function readPayloads(
  db: SqliteConnection,
  tenant: number,
  contents: readonly (string | null)[],
): Map<string, Uint8Array> {
  return collectPayloads(contents, undefined, (hash) =>
    readPayload(hash, findBlob(db, tenant, hash)),
  );
}

/**
 * As `readPayloads`, for a search: without damaged payloads, and on request only those in blocks of
 * some types.
 */
export function readSoundPayloads(
  db: SqliteConnection,
  tenant: number,
  contents: readonly (string | null)[],
  types?: readonly Block["type"][],
): Map<string, Uint8Array> {
  return collectPayloads(contents.filter(isSound), types, (hash) =>
    readSoundPayload(hash, findBlob(db, tenant, hash)),
  );
}

function collectPayloads(
  contents: readonly (string | null)[],
  types: readonly Block["type"][] | undefined,
  read: (hash: string) => Uint8Array | undefined,
): Map<string, Uint8Array> {
  const payloads = new Map<string, Uint8Array>();
  const take = (hash: string) => {
    const bytes = payloads.get(hash) ?? read(hash);
    if (bytes !== undefined) payloads.set(hash, bytes);
    return bytes;
  };
  for (const content of contents) {
    if (content === null) continue;
    for (const hash of blobsOf(content, types)) {
      const bytes = take(hash);
      if (bytes !== undefined) nestedBlobsOf(content, bytes, types).forEach(take);
    }
  }
  return payloads;
}

/** Removes a session's references, and deletes unreferenced payloads. */
export function releasePayloads(db: SqliteConnection, tenant: number, session: number): number {
  const held = db.all(SQL.heldBySession, tenant, session);
  db.run(SQL.release, tenant, session);
  return collect(db, tenant, held);
}

/** The same for its entries up to a sequence. */
export function releasePayloadsThrough(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: number,
): void {
  const held = db.all(SQL.heldThrough, tenant, session, sequence);
  db.run(SQL.releaseThrough, tenant, session, sequence);
  collect(db, tenant, held);
}

/** The same for one entry. */
export function releaseEntryPayloads(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: number,
): void {
  const held = db.all(SQL.heldByEntry, tenant, session, sequence);
  if (held.length === 0) return;
  db.run(SQL.releaseEntry, tenant, session, sequence);
  collect(db, tenant, held);
}

/** Deletes at most `limit` unreferenced payloads. */
export function collectGarbage(db: SqliteConnection, tenant: number, limit: number): number {
  return collect(db, tenant, db.all(SQL.garbage, tenant, limit));
}

function collect(
  db: SqliteConnection,
  tenant: number,
  rows: readonly Record<string, unknown>[],
): number {
  let collected = 0;
  for (const row of rows) collected += db.run(SQL.collect, tenant, row["hash"] as Uint8Array);
  return collected;
}

function findBlob(db: SqliteConnection, tenant: number, hash: string): StoredPayload | undefined {
  const row = db.get(SQL.read, tenant, fromHex(hash));
  return row && { codec: String(row["codec"]), bytes: row["bytes"] as Uint8Array };
}
