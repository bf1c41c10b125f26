/** Records: a key-value store with compare-and-swap on versions. */

import type { RecordInfo } from "../../../model/record.ts";
import { sha256 } from "../../../transcript/hash.ts";
import { planExpired, planRecords, type RecordPlan } from "../../record/plan-records.ts";
import type {
  ReadRecordsRequest,
  RecordParts,
  RecordPlace,
  RecordRange,
  RecordRecord,
  WriteRecordsRequest,
} from "../../record/record-port.ts";
import {
  cutPage,
  endOfPrefix,
  PART_COLUMNS,
  RECORD_COLUMNS,
  toCurrent,
  toRecord,
} from "../../record/record-row.ts";
import { ensureTenant, findTenant, writeFeed } from "../operations/feed.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const AT = "FROM records r WHERE r.tenant = ? AND r.namespace = ? AND r.key = ?";

const SQL = statements("records", {
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  page: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = ?1 AND r.namespace = ?2
      AND r.key > ?3 AND r.key >= ?4 AND (?5 IS NULL OR r.key < ?5)
      AND (r.expires_at IS NULL OR r.expires_at > ?6)
    ORDER BY r.key LIMIT ?7`,
  pageValues: `SELECT ${PART_COLUMNS.all} FROM records r WHERE r.tenant = ? AND r.namespace = ?
      AND r.key BETWEEN ? AND ? AND (r.expires_at IS NULL OR r.expires_at > ?)
    ORDER BY r.key`,
  everything: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = ?1
      AND (r.namespace, r.key) > (?2, ?3) AND (r.expires_at IS NULL OR r.expires_at > ?4)
    ORDER BY r.namespace, r.key LIMIT ?5`,
  put: `INSERT INTO records (tenant, namespace, key, version, is_json, size, hash, expires_at,
      created_at, updated_at, text, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
      is_json = excluded.is_json, size = excluded.size, hash = excluded.hash,
      expires_at = excluded.expires_at, created_at = excluded.created_at,
      updated_at = excluded.updated_at, text = excluded.text, value = excluded.value`,
  delete: `DELETE FROM records WHERE tenant = ? AND namespace = ? AND key = ?`,
  expired: `SELECT ${RECORD_COLUMNS} FROM records r
    WHERE r.tenant = ? AND r.expires_at IS NOT NULL AND r.expires_at <= ?
    ORDER BY r.expires_at LIMIT ?`,
});

export function writeRecords(
  db: SqliteConnection,
  name: string,
  request: WriteRecordsRequest,
): readonly (RecordInfo | null)[] {
  const tenant = ensureTenant(db, name, request.now);
  const rows = request.operations.flatMap(({ namespace, key }) =>
    db.all(SQL.info, tenant, namespace, key),
  );
  const plan = planRecords(rows.map(toCurrent), request);
  executePlan(db, tenant, plan);
  return plan.results;
}

export function readRecords(
  db: SqliteConnection,
  name: string,
  { which, now, parts, maxBytes }: ReadRecordsRequest,
): { readonly records: readonly RecordRecord[]; readonly more: boolean } {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { records: [], more: false };
  const isThere = ({ expiresAt }: RecordInfo) => expiresAt === null || expiresAt > now;
  const read = (places: readonly RecordPlace[], wanted: RecordParts) =>
    places.flatMap((place) => rowsAt(db, tenant, place, wanted));
  if ("limit" in which) {
    const rows = rangeOf(db, tenant, which, now);
    const { page, more } = cutPage(rows.map(toCurrent), which, parts);
    const [first, last] = [page[0]?.key ?? "", page.at(-1)?.key ?? ""];
    const whole =
      parts === "info"
        ? rows.slice(0, page.length)
        : which.namespace === undefined
          ? read(page, parts)
          : db.all(SQL.pageValues, tenant, which.namespace, first, last, now);
    return { records: whole.map(toRecord), more };
  }
  if (maxBytes === undefined) {
    return { records: read(which, parts).map(toRecord).filter(isThere), more: false };
  }
  const there = read(which, "info").map(toCurrent).filter(isThere);
  const { page, more } = cutPage(there, { limit: which.length, maxBytes }, parts);
  return { records: read(page, parts).map(toRecord), more };
}

/** Deletes up to `limit` expired records; gives their number. */
export function deleteExpiredRecords(
  db: SqliteConnection,
  tenant: number,
  now: number,
  limit: number,
): number {
  const plan = planExpired(db.all(SQL.expired, tenant, now, limit).map(toCurrent), now);
  executePlan(db, tenant, plan);
  return plan.deletes.length;
}

function rowsAt(
  db: SqliteConnection,
  tenant: number,
  { namespace, key }: RecordPlace,
  parts: RecordParts,
): SqlRow[] {
  return db.all(SQL[parts], tenant, namespace, key);
}

function rangeOf(
  db: SqliteConnection,
  tenant: number,
  { namespace, prefix, after, limit }: RecordRange,
  now: number,
): SqlRow[] {
  if (namespace === undefined) {
    const from = [after?.namespace ?? "", after?.key ?? ""] as const;
    return db.all(SQL.everything, tenant, ...from, now, limit + 1);
  }
  const range = [after?.key ?? "", prefix, endOfPrefix(prefix)] as const;
  return db.all(SQL.page, tenant, namespace, ...range, now, limit + 1);
}

function executePlan(db: SqliteConnection, tenant: number, plan: RecordPlan): void {
  if (plan.changes.length === 0) return;
  for (const { namespace, key } of plan.deletes) db.run(SQL.delete, tenant, namespace, key);
  for (const { info, value } of plan.puts) {
    const text = value.text === null ? null : Buffer.from(JSON.stringify(value.text));
    db.run(
      SQL.put,
      tenant,
      info.namespace,
      info.key,
      info.version,
      value.isJson ? 1 : 0,
      info.size,
      sha256(value.bytes),
      info.expiresAt,
      info.createdAt,
      info.updatedAt,
      text,
      value.bytes,
    );
  }
  writeFeed(db, tenant, plan.changes, { contentBytes: plan.contentBytes });
}
