/** Incremental purge of soft-deleted sessions: see `deleted-session.ts`. */

import { MAX_DELETED_ENTRIES } from "../../../model/limits.ts";
import type { Tombstone } from "../../records.ts";
import { toTombstone } from "../../rows/feed-row.ts";
import { deletePacks, deletePacksThrough } from "../packs/clear-packs.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { releasePayloadsThrough } from "./blobs.ts";
import { findTenant } from "./feed.ts";
import { keepFeedRows } from "./feed-rows.ts";

const SQL = statements("purge_deleted", {
  left: `SELECT s.session, s.id, t.first_entry FROM sessions s INDEXED BY sessions_with_ttl
    JOIN tenants t ON t.tenant = s.tenant
    WHERE s.tenant = ? AND s.ttl_seconds IS NOT NULL AND s.ttl_seconds = 0
    ORDER BY s.session LIMIT 1`,
  findTombstone: `SELECT b.session_id, b.origin_key, b.entry_count, b.digest, b.reason, b.deleted_at
    FROM sessions s JOIN tombstones b ON b.tenant = s.tenant AND b.session = s.session
    WHERE s.tenant = ? AND s.id = ? AND s.ttl_seconds = 0`,
  lastOfBatch: `SELECT max(sequence) AS last FROM (SELECT sequence FROM entries
    WHERE tenant = ? AND session = ? ORDER BY sequence LIMIT ?)`,
  deleteEntries: `DELETE FROM entries WHERE tenant = ? AND session = ? AND sequence <= ?`,
  deleteKeys: `DELETE FROM idempotency WHERE tenant = ?1 AND session = ?2 AND key IN (
      SELECT key FROM idempotency WHERE tenant = ?1 AND session = ?2 LIMIT ?3)`,
  deleteChains: `DELETE FROM chains WHERE tenant = ?1 AND session = ?2 AND chain IN (
      SELECT chain FROM chains WHERE tenant = ?1 AND session = ?2 LIMIT ?3)`,
  deleteParticipants: `DELETE FROM participants WHERE tenant = ?1 AND session = ?2 AND actor IN (
      SELECT actor FROM participants WHERE tenant = ?1 AND session = ?2 LIMIT ?3)`,
  deleteSession: `DELETE FROM sessions WHERE tenant = ? AND session = ?`,
});

/** The tombstone of a session whose purge is unfinished. */
export function findUnfinished(
  db: SqliteConnection,
  tenant: number,
  id: string,
): Tombstone | undefined {
  const row = db.get(SQL.findTombstone, tenant, id);
  return row === undefined ? undefined : toTombstone(row);
}

/** Whether a soft-deleted session exists. */
export function hasDeleted(db: SqliteConnection, name: string): boolean {
  const tenant = findTenant(db, name);
  return tenant !== undefined && db.get(SQL.left, tenant) !== undefined;
}

/** Deletes a batch of at most `MAX_DELETED_ENTRIES` rows of one kind; true if more are left. */
export function purgeBatch(db: SqliteConnection, name: string): boolean {
  const tenant = findTenant(db, name);
  const left = tenant === undefined ? undefined : db.get(SQL.left, tenant);
  if (tenant === undefined || left === undefined) return false;
  const session = { number: Number(left["session"]), id: String(left["id"]) };
  deleteRows(db, tenant, session, Number(left["first_entry"]));
  return hasDeleted(db, name);
}

function deleteRows(
  db: SqliteConnection,
  tenant: number,
  session: { readonly number: number; readonly id: string },
  rowBeforeFeed: number,
): void {
  const of = [tenant, session.number] as const;
  const last = db.get(SQL.lastOfBatch, ...of, MAX_DELETED_ENTRIES)?.["last"];
  if (typeof last === "number") {
    releasePayloadsThrough(db, ...of, last);
    keepFeedRows(db, tenant, session, rowBeforeFeed, last);
    db.run(SQL.deleteEntries, ...of, last);
    deletePacksThrough(db, ...of, last);
    return;
  }
  for (const deletion of [SQL.deleteKeys, SQL.deleteChains, SQL.deleteParticipants]) {
    if (db.run(deletion, ...of, MAX_DELETED_ENTRIES) > 0) return;
  }
  deletePacks(db, ...of);
  db.run(SQL.deleteSession, ...of);
}
