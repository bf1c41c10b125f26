/**
 * Deletes a session and leaves its tombstone. One with more than `MAX_DELETED_ENTRIES` is
 * soft-deleted here, and purged by `purgeBatch`.
 */

import { hash } from "node:crypto";
import type { ChangeAuthor } from "../../../model/change.ts";
import { MAX_DELETED_ENTRIES } from "../../../model/limits.ts";
import { sessionDeleted } from "../../plan/new-changes.ts";
import { REIMPORT, type Tombstone } from "../../records.ts";
import { MARK_DELETED } from "../../rows/deleted-session.ts";
import { toTombstone } from "../../rows/feed-row.ts";
import { sessionNotFound } from "../../store-errors.ts";
import { deletePacks } from "../packs/clear-packs.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { releasePayloads } from "./blobs.ts";
import { findTenant, planFeed, writePlannedFeed } from "./feed.ts";
import { keepFeedRows } from "./feed-rows.ts";
import { dropOriginals, unlinkOriginals } from "./programs.ts";
import { findUnfinished } from "./purge-deleted.ts";
import { sessionNumber } from "./sessions.ts";
import { dropStreams } from "./streams.ts";

const SQL = statements("delete_session", {
  hashes: `SELECT hash FROM entries WHERE tenant = ? AND session = ? ORDER BY sequence`,
  facts: `SELECT origin_key, message_count, content_bytes, last_sequence FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.session = ?`,
  deleteEntries: `DELETE FROM entries WHERE tenant = ? AND session = ?`,
  deleteChains: `DELETE FROM chains WHERE tenant = ? AND session = ?`,
  deleteParticipants: `DELETE FROM participants WHERE tenant = ? AND session = ?`,
  deleteFacts: `DELETE FROM facts WHERE tenant = ? AND session = ?`,
  deleteKeys: `DELETE FROM idempotency WHERE tenant = ? AND session = ?`,
  deleteState: `DELETE FROM session_state WHERE tenant = ? AND session = ?`,
  deleteSession: `DELETE FROM sessions WHERE tenant = ? AND session = ?`,
  markDeleted: `UPDATE sessions SET ${MARK_DELETED} WHERE tenant = ? AND session = ?`,
  insertTombstone: `INSERT INTO tombstones (tenant, session, session_id, origin_key, entry_count,
      digest, reason, deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  findTombstone: `SELECT session_id, origin_key, entry_count, digest, reason, deleted_at
    FROM tombstones WHERE tenant = ? AND session_id = ? ORDER BY session DESC LIMIT 1`,
  findByOrigin: `SELECT session_id, origin_key, entry_count, digest, reason, deleted_at
    FROM tombstones WHERE tenant = ? AND origin_key = ? ORDER BY session DESC LIMIT 1`,
  /** A reader's resume state may contain content of the session. */
  forgetFile: `UPDATE ingested_files SET state = NULL WHERE tenant = ?1
    AND (workstation, path) IN (
      SELECT workstation, file FROM sessions WHERE tenant = ?1 AND session = ?2
      UNION SELECT workstation, path FROM original_sessions
        WHERE tenant = ?1 AND session = ?2)`,
});

export function deleteSession(
  db: SqliteConnection,
  name: string,
  id: string,
  reason: string,
  now: number,
  by?: ChangeAuthor,
): Tombstone {
  const tenant = findTenant(db, name);
  if (tenant === undefined) throw sessionNotFound(id);
  const unfinished = findUnfinished(db, tenant, id);
  if (unfinished !== undefined) return unfinished;
  const session = sessionNumber(db, tenant, id);
  const known = db.get(SQL.facts, tenant, session) as SqlRow;
  const hashes = db.all(SQL.hashes, tenant, session).map((row) => row["hash"] as Uint8Array);
  const tombstone: Tombstone = {
    sessionId: id,
    originKey: known["origin_key"] as string | null,
    entryCount: hashes.length,
    digest: hash("sha256", Buffer.concat(hashes), "buffer"),
    reason,
    deletedAt: now,
  };

  const { originKey, entryCount, digest } = tombstone;
  dropStreams(db, tenant, session);
  db.run(SQL.forgetFile, tenant, session);
  if (reason === REIMPORT) unlinkOriginals(db, tenant, session);
  else dropOriginals(db, tenant, session);
  const feed = planFeed(db, tenant, [sessionDeleted(tombstone, by)]);
  db.run(SQL.deleteFacts, tenant, session);
  db.run(SQL.deleteState, tenant, session);
  if (entryCount > MAX_DELETED_ENTRIES) db.run(SQL.markDeleted, tenant, session);
  else deleteRows(db, tenant, { number: session, id }, feed.tenant.rowBeforeFeed);
  db.run(SQL.insertTombstone, tenant, session, id, originKey, entryCount, digest, reason, now);

  writePlannedFeed(db, tenant, feed, {
    sessions: -1,
    entries: -entryCount,
    messages: -Number(known["message_count"]),
    contentBytes: -Number(known["content_bytes"]),
  });
  return tombstone;
}

function deleteRows(
  db: SqliteConnection,
  tenant: number,
  session: { readonly number: number; readonly id: string },
  rowBeforeFeed: number,
): void {
  const { number } = session;
  releasePayloads(db, tenant, number);
  keepFeedRows(db, tenant, session, rowBeforeFeed);
  db.run(SQL.deleteEntries, tenant, number);
  deletePacks(db, tenant, number);
  db.run(SQL.deleteChains, tenant, number);
  db.run(SQL.deleteParticipants, tenant, number);
  db.run(SQL.deleteKeys, tenant, number);
  db.run(SQL.deleteSession, tenant, number);
}

export function findTombstone(
  db: SqliteConnection,
  name: string,
  sessionId: string,
): Tombstone | undefined {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.findTombstone, tenant, sessionId);
  return row === undefined ? undefined : toTombstone(row);
}

export function findTombstoneByOrigin(
  db: SqliteConnection,
  name: string,
  key: string,
): Tombstone | undefined {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.findByOrigin, tenant, key);
  return row === undefined ? undefined : toTombstone(row);
}
