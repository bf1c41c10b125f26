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
import type { Row } from "../../records.ts";
import { ensureTenant, writeFeed } from "../operations/feed.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

/** In the order of the requested places. */
const AT = `FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (namespace, key, rank)
    JOIN records r ON r.tenant = $1 AND r.namespace = wanted.namespace AND r.key = wanted.key
    ORDER BY wanted.rank`;

const SQL = statements("records", {
  /**
   * Every write of records locks the tenant's row first: a record may have no row to lock yet, and
   * the feed takes this lock anyway. A transaction that locks a session never waits for a record.
   */
  lockTenant: `SELECT tenant FROM tenants WHERE tenant = $1 FOR UPDATE`,
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  page: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1 AND r.namespace = $2
      AND r.key > $3 AND r.key >= $4 AND ($5::text IS NULL OR r.key < $5::text)
      AND (r.expires_at IS NULL OR r.expires_at > $6)
    ORDER BY r.key LIMIT $7`,
  everything: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1
      AND (r.namespace, r.key) > ($2, $3) AND (r.expires_at IS NULL OR r.expires_at > $4)
    ORDER BY r.namespace, r.key LIMIT $5`,
  put: `INSERT INTO records (tenant, namespace, key, version, is_json, size, hash, expires_at,
      created_at, updated_at, text, value)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
      is_json = excluded.is_json, size = excluded.size, hash = excluded.hash,
      expires_at = excluded.expires_at, created_at = excluded.created_at,
      updated_at = excluded.updated_at, text = excluded.text, value = excluded.value`,
  delete: `DELETE FROM records r USING unnest($2::text[], $3::text[]) AS gone (namespace, key)
    WHERE r.tenant = $1 AND r.namespace = gone.namespace AND r.key = gone.key`,
  expired: `SELECT ${RECORD_COLUMNS} FROM records r
    WHERE r.tenant = $1 AND r.expires_at IS NOT NULL AND r.expires_at <= $2
    ORDER BY r.expires_at LIMIT $3`,
});

export async function writeRecords(
  tx: Transaction,
  request: WriteRecordsRequest,
): Promise<readonly (RecordInfo | null)[]> {
  await ensureTenant(tx, request.now);
  const [, rows = []] = await tx.together([
    query(SQL.lockTenant, tx.tenant),
    placesQuery(tx, request.operations, "info"),
  ]);
  const plan = planRecords(rows.map(toCurrent), request);
  executePlan(tx, plan);
  return plan.results;
}

export async function readRecords(
  tx: Transaction,
  { which, now, parts, maxBytes }: ReadRecordsRequest,
): Promise<{ readonly records: readonly RecordRecord[]; readonly more: boolean }> {
  const isThere = ({ expiresAt }: RecordInfo) => expiresAt === null || expiresAt > now;
  if ("limit" in which) {
    const rows = await rangeOf(tx, which, now);
    const { page, more } = cutPage(rows.map(toCurrent), which, parts);
    const whole = parts === "info" ? rows.slice(0, page.length) : await rowsAt(tx, page, parts);
    return { records: whole.map(toRecord), more };
  }
  if (maxBytes === undefined) {
    const rows = await rowsAt(tx, which, parts);
    return { records: rows.map(toRecord).filter(isThere), more: false };
  }
  const there = (await rowsAt(tx, which, "info")).map(toCurrent).filter(isThere);
  const { page, more } = cutPage(there, { limit: which.length, maxBytes }, parts);
  return { records: (await rowsAt(tx, page, parts)).map(toRecord), more };
}

/** The query for expired records. */
export function expiredRecordsQuery(tx: Transaction, now: number, limit: number): Query {
  return query(SQL.expired, tx.tenant, now, limit);
}

/** Deletes up to `limit` expired records; gives their number. */
export async function deleteExpiredRecords(
  tx: Transaction,
  now: number,
  limit: number,
): Promise<number> {
  const [, rows = []] = await tx.together([
    query(SQL.lockTenant, tx.tenant),
    expiredRecordsQuery(tx, now, limit),
  ]);
  const plan = planExpired(rows.map(toCurrent), now);
  executePlan(tx, plan);
  return plan.deletes.length;
}

async function rowsAt(
  tx: Transaction,
  places: readonly RecordPlace[],
  parts: RecordParts,
): Promise<readonly Row[]> {
  if (places.length === 0) return [];
  const [rows = []] = await tx.together([placesQuery(tx, places, parts)]);
  return rows;
}

function placesQuery(tx: Transaction, places: readonly RecordPlace[], parts: RecordParts): Query {
  const namespaces = places.map(({ namespace }) => namespace);
  const keys = places.map(({ key }) => key);
  return query(SQL[parts], tx.tenant, namespaces, keys);
}

function rangeOf(
  tx: Transaction,
  { namespace, prefix, after, limit }: RecordRange,
  now: number,
): Promise<readonly Row[]> {
  if (namespace === undefined) {
    const from = [after?.namespace ?? "", after?.key ?? ""] as const;
    return tx.all(SQL.everything, tx.tenant, ...from, now, limit + 1);
  }
  const range = [after?.key ?? "", prefix, endOfPrefix(prefix)] as const;
  return tx.all(SQL.page, tx.tenant, namespace, ...range, now, limit + 1);
}

function executePlan(tx: Transaction, plan: RecordPlan): void {
  if (plan.changes.length === 0) return;
  if (plan.deletes.length > 0) {
    const namespaces = plan.deletes.map(({ namespace }) => namespace);
    const keys = plan.deletes.map(({ key }) => key);
    tx.defer(SQL.delete, tx.tenant, namespaces, keys);
  }
  for (const { info, value } of plan.puts) {
    const text = value.text === null ? null : Buffer.from(JSON.stringify(value.text));
    tx.defer(
      SQL.put,
      tx.tenant,
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
      Buffer.from(value.bytes.buffer, value.bytes.byteOffset, value.bytes.byteLength),
    );
  }
  writeFeed(tx, plan.changes, { contentBytes: plan.contentBytes });
}
