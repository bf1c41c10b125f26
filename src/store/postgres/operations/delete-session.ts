/**
 * Deletes a session and leaves its tombstone. One with more than `MAX_DELETED_ENTRIES` is
 * soft-deleted here, and purged by `purgeBatch`.
 */

import type { ChangeAuthor } from "../../../model/change.ts";
import { MAX_DELETED_ENTRIES } from "../../../model/limits.ts";
import { sessionDeleted } from "../../plan/new-changes.ts";
import { REIMPORT, type Tombstone } from "../../records.ts";
import { MARK_DELETED } from "../../rows/deleted-session.ts";
import { toTombstone } from "../../rows/feed-row.ts";
import { sessionNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { releasePayloads } from "./blobs.ts";
import { writeFeed } from "./feed.ts";
import { dropOriginals, unlinkOriginals } from "./programs.ts";
import { findUnfinished } from "./purge-deleted.ts";
import { lockQuery } from "./session-state.ts";
import { dropStreams } from "./streams.ts";

const SQL = statements("delete_session", {
  /** Columns for the tombstone and the counters; `expired` by the session's own TTL. */
  remains: `SELECT s.session, s.id AS session_id, s.origin_key, t.message_count, t.content_bytes,
      (coalesce(greatest(t.updated_at, t.last_write_at) + s.ttl_seconds * 1000 <= $3, false))::int
        AS expired,
      (SELECT count(*) FROM entries e WHERE e.tenant = s.tenant AND e.session = s.session)
        AS entry_count,
      (SELECT sha256(coalesce(string_agg(e.hash, ''::bytea ORDER BY e.sequence), ''::bytea))
        FROM entries e WHERE e.tenant = s.tenant AND e.session = s.session) AS digest
    FROM sessions s JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = $2`,
  deleteEntries: `DELETE FROM entries WHERE tenant = $1 AND session = $2`,
  deleteChains: `DELETE FROM chains WHERE tenant = $1 AND session = $2`,
  deleteParticipants: `DELETE FROM participants WHERE tenant = $1 AND session = $2`,
  deleteFacts: `DELETE FROM facts WHERE tenant = $1 AND session = $2`,
  deleteKeys: `DELETE FROM idempotency WHERE tenant = $1 AND session = $2`,
  deleteState: `DELETE FROM session_state WHERE tenant = $1 AND session = $2`,
  deleteSession: `DELETE FROM sessions WHERE tenant = $1 AND session = $2`,
  markDeleted: `UPDATE sessions SET ${MARK_DELETED} WHERE tenant = $1 AND session = $2`,
  insertTombstone: `INSERT INTO tombstones (tenant, session, session_id, origin_key, entry_count,
      digest, reason, deleted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  findTombstone: `SELECT session_id, origin_key, entry_count, digest, reason, deleted_at
    FROM tombstones WHERE tenant = $1 AND session_id = $2 ORDER BY session DESC LIMIT 1`,
  findByOrigin: `SELECT session_id, origin_key, entry_count, digest, reason, deleted_at
    FROM tombstones WHERE tenant = $1 AND origin_key = $2 ORDER BY session DESC LIMIT 1`,
  /** A reader's resume state may contain content of the session. */
  forgetFile: `UPDATE ingested_files SET state = NULL WHERE tenant = $1
    AND (workstation, path) IN (
      SELECT workstation, file FROM sessions WHERE tenant = $1 AND session = $2
      UNION SELECT workstation, path FROM original_sessions
        WHERE tenant = $1 AND session = $2)`,
});

/** In foreign-key order; first the rows that reads find without the session. */
const VISIBLE = [SQL.deleteFacts, SQL.deleteState];
const ROWS = [
  SQL.deleteEntries,
  SQL.deleteChains,
  SQL.deleteParticipants,
  SQL.deleteKeys,
  SQL.deleteSession,
];

export async function deleteSession(
  tx: Transaction,
  id: string,
  reason: string,
  now: number,
  by?: ChangeAuthor,
): Promise<Tombstone> {
  const purged = await purge(tx, id, { reason, now, by, onlyExpired: false });
  const tombstone = purged ?? (await findUnfinished(tx, id));
  if (tombstone === undefined) throw sessionNotFound(id);
  return tombstone;
}

/** Rechecks under the lock: deletes a session unless it was deleted or appended to since. */
export async function deleteExpired(tx: Transaction, id: string, now: number): Promise<boolean> {
  const purged = await purge(tx, id, { reason: "ttl", now, by: undefined, onlyExpired: true });
  return purged !== undefined;
}

export async function findTombstone(
  tx: Transaction,
  sessionId: string,
): Promise<Tombstone | undefined> {
  const row = await tx.get(SQL.findTombstone, tx.tenant, sessionId);
  return row === undefined ? undefined : toTombstone(row);
}

export async function findTombstoneByOrigin(
  tx: Transaction,
  key: string,
): Promise<Tombstone | undefined> {
  const row = await tx.get(SQL.findByOrigin, tx.tenant, key);
  return row === undefined ? undefined : toTombstone(row);
}

interface Purge {
  readonly reason: string;
  readonly now: number;
  readonly by: ChangeAuthor | undefined;
  readonly onlyExpired: boolean;
}

async function purge(
  tx: Transaction,
  id: string,
  { reason, now, by, onlyExpired }: Purge,
): Promise<Tombstone | undefined> {
  const [locked, found] = await tx.together([
    lockQuery(tx, id),
    query(SQL.remains, tx.tenant, id, now),
  ]);
  const remains = found?.[0];
  if (locked?.[0] === undefined || remains === undefined) return undefined;
  if (onlyExpired && remains["expired"] !== 1) return undefined;
  const session = Number(remains["session"]);
  const tombstone = toTombstone({ ...remains, reason, deleted_at: now });

  const { originKey, entryCount, digest } = tombstone;
  const inPieces = entryCount > MAX_DELETED_ENTRIES;
  if (!inPieces) await releasePayloads(tx, session);
  dropStreams(tx, session);
  tx.defer(SQL.forgetFile, tx.tenant, session);
  if (reason === REIMPORT) unlinkOriginals(tx, session);
  else dropOriginals(tx, session);
  for (const deletion of [...VISIBLE, ...(inPieces ? [SQL.markDeleted] : ROWS)]) {
    tx.defer(deletion, tx.tenant, session);
  }
  tx.defer(SQL.insertTombstone, tx.tenant, session, id, originKey, entryCount, digest, reason, now);
  writeFeed(tx, [sessionDeleted(tombstone, by)], {
    sessions: -1,
    entries: -entryCount,
    messages: -Number(remains["message_count"]),
    contentBytes: -Number(remains["content_bytes"]),
  });
  return tombstone;
}
