/** The tenant row and the change feed: the last rows that a write transaction touches. */

import type { ChangeAuthor } from "../../../model/change.ts";
import { changeBody, ZERO_HASH } from "../../../transcript/hash.ts";
import { storedBytes, storedBytesOrNull, storedEpoch } from "../../damage/stored-json.ts";
import { administered, quotaChanged, type TenantDelta } from "../../plan/new-changes.ts";
import type { NewChange } from "../../plan/plan-append.ts";
import type { ChangePage, FeedHead, Quota, Row } from "../../records.ts";
import { toChange } from "../../rows/feed-row.ts";
import { bigints, byteas, texts } from "../binary-copy.ts";
import { type PostgresConnection, type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import { NO_TENANT, TENANT_BY_NAME, type Transaction } from "../transaction.ts";

/** The bound of rows scanned for one page of the feed, however selective the filter. */
const SCANNED_ROWS = 10_000;

/** "BkSt": the advisory lock for creating tenants. */
const TENANTS_LOCK = 0x426b5374;

const SQL = statements("feed", {
  lockTenants: `SELECT pg_advisory_xact_lock($1)`,
  insertTenant: `INSERT INTO tenants (tenant, name, created_at, feed_hash)
    SELECT coalesce(max(tenant), 0) + 1, $1, $2, $3 FROM tenants ON CONFLICT (name) DO NOTHING`,
  claimSession: `UPDATE tenants SET last_session = last_session + 1 WHERE tenant = $1
    RETURNING last_session`,
  writeFeed: `SELECT backscroll_write_feed($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    AS feed_position`,
  setQuota: `UPDATE tenants SET max_sessions = $2, max_entries = $3, max_content_bytes = $4
    WHERE tenant = $1`,
  listChanges: `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM changes WHERE tenant = $1 AND position > $2 ORDER BY position LIMIT $3`,
  listSessionChanges: `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM changes WHERE tenant = $1 AND position > $2 AND position <= $3 AND session_id = $4
    ORDER BY position LIMIT $5`,
  readHead: `SELECT feed_position, feed_hash FROM tenants WHERE name = $1`,
  hashAt: `SELECT hash FROM changes WHERE tenant = $1 AND position = $2`,
  readEpoch: `SELECT value FROM store WHERE key = 'epoch'`,
  listTenants: `SELECT name FROM tenants ORDER BY name`,
  positions: `SELECT name, feed_position FROM tenants WHERE name = ANY ($1)`,
  sumPositions: `SELECT coalesce(sum(feed_position), 0)::bigint AS sum FROM tenants`,
});

/**
 * Creates the tenant on its first write. Under a lock: two concurrent ones would get the same
 * number.
 */
export async function ensureTenant(tx: Transaction, now: number): Promise<void> {
  if (tx.tenant !== NO_TENANT) return;
  tx.defer(SQL.lockTenants, TENANTS_LOCK);
  tx.defer(SQL.insertTenant, tx.name, now, ZERO_HASH);
  const row = await tx.get(TENANT_BY_NAME, tx.name);
  tx.enter(Number(row?.["tenant"]));
}

/**
 * Queries the number of the tenant's next session. Locks the tenant's row, so that concurrent
 * creations are sequential.
 */
export function claimSessionQuery(tx: Transaction): Query {
  return query(SQL.claimSession, tx.tenant);
}

/** Ends a write: the commit checks the quota, updates the counters, and numbers the changes. */
export function writeFeed(
  tx: Transaction,
  changes: readonly NewChange[],
  delta: TenantDelta = {},
): void {
  tx.deferLast(
    SQL.writeFeed,
    tx.tenant,
    delta.sessions ?? 0,
    delta.entries ?? 0,
    delta.messages ?? 0,
    delta.contentBytes ?? 0,
    bigints(changes.map((change) => change.at)),
    texts(changes.map((change) => change.kind)),
    texts(changes.map((change) => change.sessionId)),
    texts(changes.map((change) => change.entryId)),
    byteas(changes.map((change) => change.entryHash)),
    byteas(changes.map(({ details }) => (details === null ? null : Buffer.from(details)))),
    byteas(changes.map((change) => Buffer.from(changeBody(change)))),
  );
}

export async function setQuota(
  tx: Transaction,
  quota: Quota,
  now: number,
  by?: ChangeAuthor,
): Promise<void> {
  await ensureTenant(tx, now);
  tx.defer(SQL.setQuota, tx.tenant, quota.maxSessions, quota.maxEntries, quota.maxContentBytes);
  writeFeed(tx, [quotaChanged(quota, now, by)]);
}

export async function noteAct(
  tx: Transaction,
  act: string,
  now: number,
  by?: ChangeAuthor,
): Promise<void> {
  await ensureTenant(tx, now);
  writeFeed(tx, [administered(act, now, by)]);
}

export async function feedHead(db: PostgresConnection, name: string): Promise<FeedHead> {
  const [heads, epochs] = await db.send([query(SQL.readHead, name), query(SQL.readEpoch)]);
  return toFeedHead(name, heads?.rows[0], epochs?.rows[0]);
}

/** The same with the hash of the change at a position. */
export async function feedHeadAt(tx: Transaction, position: number): Promise<FeedHead> {
  const [heads, epochs, rows] = await tx.together([
    query(SQL.readHead, tx.name),
    query(SQL.readEpoch),
    query(SQL.hashAt, tx.tenant, position),
  ]);
  const head = toFeedHead(tx.name, heads?.[0], epochs?.[0]);
  const row = rows?.[0];
  if (position === 0) return { ...head, hashAt: ZERO_HASH };
  if (row === undefined) return head;
  return { ...head, hashAt: storedBytes(row["hash"], `change ${position} of the feed`) };
}

function toFeedHead(name: string, head: Row | undefined, epoch: Row | undefined): FeedHead {
  return {
    epoch: storedEpoch(epoch?.["value"]),
    position: Number(head?.["feed_position"] ?? 0),
    hash: storedBytesOrNull(head?.["feed_hash"], `the row of tenant ${name}`) ?? ZERO_HASH,
  };
}

export async function listChanges(
  tx: Transaction,
  after: number,
  limit: number,
  sessionId: string | undefined,
): Promise<ChangePage> {
  if (sessionId === undefined) {
    const rows = await tx.all(SQL.listChanges, tx.tenant, after, limit);
    const changes = rows.map(toChange);
    return { changes, through: changes.at(-1)?.position ?? after };
  }
  const scanned = after + SCANNED_ROWS;
  const [heads, rows] = await tx.together([
    query(SQL.readHead, tx.name),
    query(SQL.listSessionChanges, tx.tenant, after, scanned, sessionId, limit),
  ]);
  const changes = (rows ?? []).map(toChange);
  const last = Math.min(scanned, Number(heads?.[0]?.["feed_position"] ?? 0));
  const through = changes.length === limit ? (changes.at(-1)?.position ?? after) : last;
  return { changes, through: Math.max(through, after) };
}

export async function listTenants(db: PostgresConnection): Promise<string[]> {
  const rows = await db.all(SQL.listTenants);
  return rows.map((row) => String(row["name"]));
}

/** The feed ends of some tenants; those without a feed are left out. */
export async function feedPositions(
  db: PostgresConnection,
  names: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.all(SQL.positions, names);
  return new Map(rows.map((row) => [String(row["name"]), Number(row["feed_position"])]));
}

/** Increments with every change of any tenant. */
export async function sumPositions(db: PostgresConnection): Promise<number> {
  const [row] = await db.all(SQL.sumPositions);
  return Number(row?.["sum"]);
}
