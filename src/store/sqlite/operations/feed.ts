/** The tenant row and the change feed: the last rows that a write transaction touches. */

import type { ChangeAuthor } from "../../../model/change.ts";
import { changeBody, changeHash, ZERO_HASH } from "../../../transcript/hash.ts";
import { storedBytesOrNull } from "../../damage/stored-json.ts";
import { administered, quotaChanged, type TenantDelta } from "../../plan/new-changes.ts";
import type { NewChange } from "../../plan/plan-append.ts";
import type { ChangePage, FeedHead, Quota } from "../../records.ts";
import { toChange } from "../../rows/feed-row.ts";
import { checkQuota } from "../../store-errors.ts";
import { insertRows, runInTens } from "../insert-rows.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { readEpoch } from "../sqlite-schema.ts";
import { statements } from "../sqlite-statements.ts";
import type { TenantState } from "../write-cache.ts";
import { isInEntryRow, type PlacedChange, tooManyTenants } from "./feed-rows.ts";

/** The bound of rows scanned for one page of the feed, however selective the filter. */
const SCANNED_ROWS = 10_000;

/**
 * Write-behind: how far the tenant's row may lag behind the entries. Writing it is a seventh of an
 * append; readers add the messages since. The view `tenants_now` uses the same number.
 */
const UNWRITTEN_POSITIONS = 64;

const CHANGE_INSERT = `INSERT INTO changes
    (tenant, position, at, kind, session_id, entry_id, entry_hash, details, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Takes the tenant and positions, and the row numbers before the feed: see `feedRange`. */
const FEED_RANGE = `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM changes WHERE tenant = ? AND position > ? AND position <= ?
    UNION ALL
    SELECT e.entry - ?, coalesce(e.fed_at, e.created_at), 'entry_appended', s.id, e.id, e.hash,
      NULL, e.fed_hash
    FROM entries e NOT INDEXED
    CROSS JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.entry > ? AND e.entry <= ? AND e.fed_hash IS NOT NULL
    UNION ALL
    SELECT e.entry - ? + 1, coalesce(e.fed_at, e.created_at), 'context_usage', s.id, e.id, NULL,
      e.fed_usage, e.fed_usage_hash
    FROM entries e NOT INDEXED
    CROSS JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.entry >= ? AND e.entry < ? AND e.fed_usage_hash IS NOT NULL`;

const SQL = statements("feed", {
  tenantByName: `SELECT tenant FROM tenants WHERE name = ?`,
  insertTenant: `INSERT INTO tenants (name, created_at, feed_hash, first_entry)
    SELECT ?, ?, ?, coalesce(max(first_entry) + 4294967296, 0) FROM tenants
    RETURNING tenant, first_entry <= 9007194959773696 AS is_numbered`,
  readTenant: `SELECT feed_position, feed_hash, last_session, session_count, entry_count,
      message_count, content_bytes, max_sessions, max_entries, max_content_bytes, first_entry,
      written_position
    FROM tenants_now WHERE tenant = ?`,
  insertChange: insertRows(1, CHANGE_INSERT),
  insertTenChanges: insertRows(10, CHANGE_INSERT),
  moveFeed: `UPDATE tenants SET feed_position = ?, feed_hash = ?, last_session = ?,
      session_count = ?, entry_count = ?, message_count = ?, content_bytes = ?
    WHERE tenant = ?`,
  setQuota: `UPDATE tenants SET max_sessions = ?, max_entries = ?, max_content_bytes = ?
    WHERE tenant = ?`,
  listChanges: `${FEED_RANGE} ORDER BY position`,
  listSessionChanges: `SELECT position, at, kind, session_id, entry_id, entry_hash, details, hash
    FROM (${FEED_RANGE}) WHERE session_id = ? ORDER BY position LIMIT ?`,
  readHead: `SELECT feed_position, feed_hash, first_entry FROM tenants_now WHERE tenant = ?`,
  listTenants: `SELECT name FROM tenants ORDER BY name`,
});

/** The tenant's number; undefined for a tenant without rows. */
export function findTenant(db: SqliteConnection, name: string): number | undefined {
  const known = db.tenants.get(name);
  if (known !== undefined) return known;
  const row = db.get(SQL.tenantByName, name);
  if (row === undefined) return undefined;
  const tenant = Number(row["tenant"]);
  db.tenants.set(name, tenant);
  return tenant;
}

/** The tenant's number, created on its first write. */
export function ensureTenant(db: SqliteConnection, name: string, now: number): number {
  const known = findTenant(db, name);
  if (known !== undefined) return known;
  const row = db.get(SQL.insertTenant, name, now, ZERO_HASH) as SqlRow;
  if (row["is_numbered"] !== 1) throw tooManyTenants();
  const tenant = Number(row["tenant"]);
  db.tenants.set(name, tenant);
  return tenant;
}

/** The number of the tenant's next session. */
export function nextSessionNumber(db: SqliteConnection, tenant: number): number {
  return readTenant(db, tenant).lastSession + 1;
}

/**
 * The next positions of the feed, valid until the next write to it. Create it before entries are
 * changed or deleted: the newest ones carry the tenant's counters.
 */
export interface FeedPlan {
  readonly changes: readonly PlacedChange[];
  /** The tenant's row before them. */
  readonly tenant: TenantState;
}

export function planFeed(
  db: SqliteConnection,
  number: number,
  changes: readonly NewChange[],
): FeedPlan {
  const tenant = db.cache.tenant(number) ?? readTenant(db, number);
  let { position, hash } = tenant;
  let previous: PlacedChange | undefined;
  const placed = changes.map((change) => {
    position++;
    hash = changeHash(hash, position, changeBody(change));
    previous = { change, position, hash, isInEntry: isInEntryRow(change, previous) };
    return previous;
  });
  return { changes: placed, tenant };
}

/** Ends a write without entries: see `writePlannedFeed`. */
export function writeFeed(
  db: SqliteConnection,
  tenant: number,
  changes: readonly NewChange[],
  delta: TenantDelta = {},
  sessionNumber = 0,
): void {
  writePlannedFeed(db, tenant, planFeed(db, tenant, changes), delta, sessionNumber);
}

/**
 * Ends a write: checks the quota, writes the changes that no entry stores, and updates the
 * counters. `sessionNumber` is the highest session number assigned by the write, if any.
 */
export function writePlannedFeed(
  db: SqliteConnection,
  tenant: number,
  plan: FeedPlan,
  delta: TenantDelta,
  sessionNumber = 0,
): void {
  const before = plan.tenant;
  const { sessions = 0, entries = 0, messages = 0, contentBytes = 0 } = delta;
  checkQuota("sessions", before.maxSessions, before.sessions, sessions);
  checkQuota("entries", before.maxEntries, before.entries, entries);
  checkQuota("content bytes", before.maxContentBytes, before.contentBytes, contentBytes);
  const own = plan.changes.filter(({ isInEntry }) => !isInEntry);
  runInTens(db, SQL.insertChange, SQL.insertTenChanges, own, ({ change, position, hash }) => {
    const { at, kind, sessionId, entryId, entryHash, details } = change;
    const detailBytes = details === null ? null : Buffer.from(details);
    return [tenant, position, at, kind, sessionId, entryId, entryHash, detailBytes, hash];
  });
  const { position, hash } = plan.changes.at(-1) ?? before;
  const isDeferred = own.length === 0 && position - before.writtenPosition <= UNWRITTEN_POSITIONS;
  const after: TenantState = {
    ...before,
    position,
    hash,
    writtenPosition: isDeferred ? before.writtenPosition : position,
    lastSession: Math.max(sessionNumber, before.lastSession),
    sessions: before.sessions + sessions,
    entries: before.entries + entries,
    messages: before.messages + messages,
    contentBytes: before.contentBytes + contentBytes,
  };
  db.cache.keepTenant(tenant, after);
  if (!isDeferred) {
    const { lastSession } = after;
    const counts = [after.sessions, after.entries, after.messages, after.contentBytes];
    db.run(SQL.moveFeed, position, hash, lastSession, ...counts, tenant);
  }
}

function readTenant(db: SqliteConnection, tenant: number): TenantState {
  const row = db.get(SQL.readTenant, tenant) as SqlRow;
  return {
    position: Number(row["feed_position"]),
    hash: row["feed_hash"] as Uint8Array,
    lastSession: Number(row["last_session"]),
    rowBeforeFeed: Number(row["first_entry"]),
    writtenPosition: Number(row["written_position"]),
    sessions: Number(row["session_count"]),
    entries: Number(row["entry_count"]),
    messages: Number(row["message_count"]),
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
  // The cached row has the old limits.
  db.cache.forget();
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

export function feedHead(db: SqliteConnection, name: string, at?: number): FeedHead {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.readHead, tenant);
  const hashAt = at === undefined ? undefined : hashOf(db, tenant, at, row);
  return {
    epoch: readEpoch(db),
    ...(hashAt === undefined ? {} : { hashAt }),
    position: Number(row?.["feed_position"] ?? 0),
    hash: storedBytesOrNull(row?.["feed_hash"], `the row of tenant ${name}`) ?? ZERO_HASH,
  };
}

/** The hash of the change at a position; undefined if there is none. */
function hashOf(
  db: SqliteConnection,
  tenant: number | undefined,
  position: number,
  head: SqlRow | undefined,
): Uint8Array | undefined {
  if (position === 0) return ZERO_HASH;
  if (tenant === undefined) return undefined;
  const first = Number(head?.["first_entry"] ?? 0);
  const [row] = db.all(SQL.listChanges, ...feedRange(tenant, position - 1, position, first));
  return row === undefined ? undefined : toChange(row).hash;
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
  const head = db.get(SQL.readHead, tenant);
  const looked = sessionId === undefined ? limit : SCANNED_ROWS;
  // Positions have no gaps.
  const last = Math.max(after, Math.min(after + looked, Number(head?.["feed_position"] ?? 0)));
  const range = feedRange(tenant, after, last, Number(head?.["first_entry"] ?? 0));
  if (sessionId === undefined) {
    return { changes: db.all(SQL.listChanges, ...range).map(toChange), through: last };
  }
  const changes = db.all(SQL.listSessionChanges, ...range, sessionId, limit).map(toChange);
  return { changes, through: changes.length === limit ? (changes.at(-1)?.position ?? last) : last };
}

/** Parameters of `FEED_RANGE`: positions after `after` to `last`, of changes, messages and usage. */
function feedRange(tenant: number, after: number, last: number, before: number): number[] {
  const rows = [before, tenant, before + after, before + last];
  return [tenant, after, last, ...rows, ...rows];
}

export function listTenants(db: SqliteConnection): string[] {
  return db.all(SQL.listTenants).map((row) => String(row["name"]));
}
