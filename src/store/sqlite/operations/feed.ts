/** The tenant row and the change feed: the last things that a write transaction touches. */

import type { ChangeAuthor } from "../../../model/change.ts";
import { changeBody, changeHash, ZERO_HASH } from "../../../transcript/hash.ts";
import { administered, quotaChanged } from "../../new-changes.ts";
import type { NewChange } from "../../plan-append.ts";
import type { ChangePage, FeedHead, Quota } from "../../records.ts";
import { toChange } from "../../rows/feed-row.ts";
import { checkQuota } from "../../store-errors.ts";
import type { TenantDelta } from "../../tenant-delta.ts";
import { insertRows, runInTens } from "../insert-rows.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { readEpoch } from "../sqlite-schema.ts";
import { statements } from "../sqlite-statements.ts";
import type { TenantState } from "../write-memory.ts";

/** How many rows one page of the feed looks at, however few of them a filter keeps. */
const SCANNED_ROWS = 10_000;

const CHANGE_INSERT = `INSERT INTO changes
    (tenant, position, at, kind, session_id, entry_id, entry_hash, details, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const SQL = statements("feed", {
  tenantByName: `SELECT tenant FROM tenants WHERE name = ?`,
  insertTenant: `INSERT INTO tenants (name, created_at, feed_hash) VALUES (?, ?, ?) RETURNING tenant`,
  readTenant: `SELECT feed_position, feed_hash, last_session, session_count, entry_count,
      content_bytes, max_sessions, max_entries, max_content_bytes
    FROM tenants WHERE tenant = ?`,
  insertChange: insertRows(1, CHANGE_INSERT),
  insertTenChanges: insertRows(10, CHANGE_INSERT),
  moveFeed: `UPDATE tenants SET feed_position = ?, feed_hash = ?, last_session = ?,
      session_count = session_count + ?, entry_count = entry_count + ?,
      message_count = message_count + ?, content_bytes = content_bytes + ?
    WHERE tenant = ?`,
  setQuota: `UPDATE tenants SET max_sessions = ?, max_entries = ?, max_content_bytes = ?
    WHERE tenant = ?`,
  listChanges: `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM changes WHERE tenant = ? AND position > ? ORDER BY position LIMIT ?`,
  listSessionChanges: `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM changes WHERE tenant = ? AND position > ? AND position <= ? AND session_id = ?
    ORDER BY position LIMIT ?`,
  readHead: `SELECT feed_position, feed_hash FROM tenants WHERE tenant = ?`,
  listTenants: `SELECT name FROM tenants ORDER BY name`,
});

/** The tenant's number, or undefined if nothing was ever written for it. */
export function findTenant(db: SqliteConnection, name: string): number | undefined {
  const known = db.tenants.get(name);
  if (known !== undefined) return known;
  const row = db.get(SQL.tenantByName, name);
  if (row === undefined) return undefined;
  const tenant = Number(row["tenant"]);
  db.tenants.set(name, tenant);
  return tenant;
}

/** The tenant's number, made on its first write. */
export function ensureTenant(db: SqliteConnection, name: string, now: number): number {
  const known = findTenant(db, name);
  if (known !== undefined) return known;
  const tenant = Number(db.get(SQL.insertTenant, name, now, ZERO_HASH)?.["tenant"]);
  db.tenants.set(name, tenant);
  return tenant;
}

/** The number that the tenant's next session gets. */
export function nextSessionNumber(db: SqliteConnection, tenant: number): number {
  return readTenant(db, tenant).lastSession + 1;
}

/**
 * Ends a write: checks the quota, moves the counters, and gives each change its position and hash.
 * `sessionNumber` is the greatest session number that the write gave out, if it gave one.
 */
export function writeFeed(
  db: SqliteConnection,
  tenant: number,
  changes: readonly NewChange[],
  delta: TenantDelta = {},
  sessionNumber = 0,
): void {
  const state = db.memory.tenant(tenant) ?? readTenant(db, tenant);
  const { maxSessions, maxEntries, maxContentBytes } = state;
  const { sessions = 0, entries = 0, messages = 0, contentBytes = 0 } = delta;
  checkQuota("sessions", maxSessions, state.sessions, sessions);
  checkQuota("entries", maxEntries, state.entries, entries);
  checkQuota("content bytes", maxContentBytes, state.contentBytes, contentBytes);
  const lastSession = Math.max(sessionNumber, state.lastSession);
  let { position, hash } = state;
  runInTens(db, SQL.insertChange, SQL.insertTenChanges, changes, (change) => {
    position++;
    hash = changeHash(hash, position, changeBody(change));
    const { at, kind, sessionId, entryId, entryHash, details } = change;
    const detailBytes = details === null ? null : Buffer.from(details);
    return [tenant, position, at, kind, sessionId, entryId, entryHash, detailBytes, hash];
  });
  db.run(
    SQL.moveFeed,
    position,
    hash,
    lastSession,
    sessions,
    entries,
    messages,
    contentBytes,
    tenant,
  );
  db.memory.keepTenant(tenant, {
    position,
    hash,
    lastSession,
    sessions: state.sessions + sessions,
    entries: state.entries + entries,
    contentBytes: state.contentBytes + contentBytes,
    maxSessions,
    maxEntries,
    maxContentBytes,
  });
}

function readTenant(db: SqliteConnection, tenant: number): TenantState {
  const row = db.get(SQL.readTenant, tenant) as SqlRow;
  return {
    position: Number(row["feed_position"]),
    hash: row["feed_hash"] as Uint8Array,
    lastSession: Number(row["last_session"]),
    sessions: Number(row["session_count"]),
    entries: Number(row["entry_count"]),
    contentBytes: Number(row["content_bytes"]),
    maxSessions: row["max_sessions"] as number | null,
    maxEntries: row["max_entries"] as number | null,
    maxContentBytes: row["max_content_bytes"] as number | null,
  };
}

export function setQuota(
  db: SqliteConnection,
  name: string,
  quota: Quota,
  now: number,
  by?: ChangeAuthor,
): void {
  const tenant = ensureTenant(db, name, now);
  db.run(SQL.setQuota, quota.maxSessions, quota.maxEntries, quota.maxContentBytes, tenant);
  // The row that the writer remembers has the old limits.
  db.memory.forget();
  writeFeed(db, tenant, [quotaChanged(quota, now, by)]);
}

export function noteAct(
  db: SqliteConnection,
  name: string,
  act: string,
  now: number,
  by?: ChangeAuthor,
): void {
  writeFeed(db, ensureTenant(db, name, now), [administered(act, now, by)]);
}

export function feedHead(db: SqliteConnection, name: string): FeedHead {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.readHead, tenant);
  return {
    epoch: readEpoch(db),
    position: Number(row?.["feed_position"] ?? 0),
    hash: (row?.["feed_hash"] as Uint8Array | undefined) ?? ZERO_HASH,
  };
}

export function listChanges(
  db: SqliteConnection,
  name: string,
  after: number,
  limit: number,
  sessionId: string | undefined,
): ChangePage {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { changes: [], through: after };
  if (sessionId === undefined) {
    const changes = db.all(SQL.listChanges, tenant, after, limit).map(toChange);
    return { changes, through: changes.at(-1)?.position ?? after };
  }
  const head = Number(db.get(SQL.readHead, tenant)?.["feed_position"] ?? 0);
  const last = Math.min(after + SCANNED_ROWS, head);
  const changes = db
    .all(SQL.listSessionChanges, tenant, after, last, sessionId, limit)
    .map(toChange);
  const through = changes.length === limit ? (changes.at(-1)?.position ?? after) : last;
  return { changes, through: Math.max(through, after) };
}

export function listTenants(db: SqliteConnection): string[] {
  return db.all(SQL.listTenants).map((row) => String(row["name"]));
}
