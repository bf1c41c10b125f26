/** Incremental purge of soft-deleted sessions: see `deleted-session.ts`. */

import { MAX_DELETED_ENTRIES } from "../../../model/limits.ts";
import type { Tombstone } from "../../records.ts";
import { toTombstone } from "../../rows/feed-row.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { releasePayloadsThrough } from "./blobs.ts";

const SQL = statements("purge_deleted", {
  /** `IS NOT NULL` matches the predicate of the partial index. */
  hasDeleted: `SELECT 1 AS found FROM sessions
    WHERE tenant = $1 AND ttl_seconds IS NOT NULL AND ttl_seconds = 0 LIMIT 1`,
  /** Serialises processes that purge the same session. */
  lockDeleted: `SELECT session FROM sessions
    WHERE tenant = $1 AND ttl_seconds IS NOT NULL AND ttl_seconds = 0
    ORDER BY session LIMIT 1 FOR UPDATE`,
  findTombstone: `SELECT b.session_id, b.origin_key, b.entry_count, b.digest, b.reason, b.deleted_at
    FROM sessions s JOIN tombstones b ON b.tenant = s.tenant AND b.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND s.ttl_seconds = 0`,
  lastOfBatch: `SELECT max(sequence) AS last FROM (SELECT sequence FROM entries
    WHERE tenant = $1 AND session = $2 ORDER BY sequence LIMIT $3) piece`,
  deleteEntries: `DELETE FROM entries WHERE tenant = $1 AND session = $2 AND sequence <= $3`,
  deleteKeys: `DELETE FROM idempotency WHERE tenant = $1 AND session = $2 AND key IN (
      SELECT key FROM idempotency WHERE tenant = $1 AND session = $2 LIMIT $3) RETURNING 1 AS gone`,
  deleteChains: `DELETE FROM chains WHERE tenant = $1 AND session = $2 AND chain IN (
      SELECT chain FROM chains WHERE tenant = $1 AND session = $2 LIMIT $3) RETURNING 1 AS gone`,
  deleteParticipants: `DELETE FROM participants WHERE tenant = $1 AND session = $2 AND actor IN (
      SELECT actor FROM participants WHERE tenant = $1 AND session = $2 LIMIT $3)
    RETURNING 1 AS gone`,
  deleteSession: `DELETE FROM sessions WHERE tenant = $1 AND session = $2`,
});

/** Queries whether a soft-deleted session exists. */
export function deletedQuery(tx: Transaction): Query {
  return query(SQL.hasDeleted, tx.tenant);
}

/** The tombstone of a session whose purge is unfinished. */
export async function findUnfinished(tx: Transaction, id: string): Promise<Tombstone | undefined> {
  const row = await tx.get(SQL.findTombstone, tx.tenant, id);
  return row === undefined ? undefined : toTombstone(row);
}

/** Purges a tenant's soft-deleted sessions; false if there were none. */
export async function purgeDeleted(db: PostgresDatabase, tenant: string): Promise<boolean> {
  const [left] = await db.read(tenant, (tx) => tx.together([deletedQuery(tx)]));
  if (left?.[0] === undefined) return false;
  while (await db.write(tenant, purgeBatch));
  return true;
}

/** Deletes a batch of at most `MAX_DELETED_ENTRIES` rows of one kind; true if more are left. */
export async function purgeBatch(tx: Transaction): Promise<boolean> {
  const left = await tx.get(SQL.lockDeleted, tx.tenant);
  if (left !== undefined) await deleteRows(tx, Number(left["session"]));
  const [found] = await tx.together([deletedQuery(tx)]);
  return found?.[0] !== undefined;
}

async function deleteRows(tx: Transaction, session: number): Promise<void> {
  const of = [tx.tenant, session] as const;
  const piece = await tx.get(SQL.lastOfBatch, ...of, MAX_DELETED_ENTRIES);
  const last = piece?.["last"];
  if (last !== null && last !== undefined) {
    await releasePayloadsThrough(tx, session, Number(last));
    tx.defer(SQL.deleteEntries, ...of, Number(last));
    return;
  }
  for (const deletion of [SQL.deleteKeys, SQL.deleteChains, SQL.deleteParticipants]) {
    const gone = await tx.all(deletion, ...of, MAX_DELETED_ENTRIES);
    if (gone.length > 0) return;
  }
  tx.defer(SQL.deleteSession, ...of);
}
