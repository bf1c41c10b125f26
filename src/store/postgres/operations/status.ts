/** The store's counts and sizes, and damage that the server reports. */

import type { Row, StoreStatus } from "../../records.ts";
import { toTenantStatus } from "../../rows/feed-row.ts";
import { type PostgresConnection, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("status", {
  store: `SELECT pg_database_size(current_database()) AS bytes,
      (SELECT max(version) FROM schema) AS version,
      (SELECT value FROM store WHERE key = 'epoch') AS epoch`,
  tenants: `SELECT tenant, name, session_count, entry_count, message_count, content_bytes,
      feed_position, feed_hash, max_sessions, max_entries, max_content_bytes
    FROM tenants ORDER BY name`,
  notes: `SELECT (SELECT count(*) FROM streams r WHERE r.tenant = $1) AS pending,
      (SELECT count(*) FROM memories m WHERE m.tenant = $1) AS memories,
      (SELECT count(*) FROM facts f WHERE f.tenant = $1) AS facts,
      i.version, i.through, i.body
    FROM tenants n LEFT JOIN index_manifest i ON i.tenant = n.tenant WHERE n.tenant = $1`,
  checksums: `SELECT checksum_failures AS count FROM pg_stat_database
    WHERE datname = current_database() AND checksum_failures > 0`,
  invalidIndexes: `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace`,
});

export async function status(tx: Transaction, address: string): Promise<StoreStatus> {
  const [store, tenants = []] = await tx.together([query(SQL.store), query(SQL.tenants)]);
  const counts: Row[] = [];
  for (const { tenant } of tenants) {
    tx.enter(Number(tenant));
    counts.push((await tx.get(SQL.notes, tx.tenant)) as Row);
  }
  return {
    backend: "postgres",
    address,
    schemaVersion: Number(store?.[0]?.["version"] ?? 0),
    epoch: String(store?.[0]?.["epoch"] ?? ""),
    databaseBytes: Number(store?.[0]?.["bytes"]),
    // The WAL belongs to the whole server.
    walBytes: 0,
    // Only the process that met a failover knows its losses.
    losses: [],
    followers: [],
    tenants: tenants.map((row, i) => toTenantStatus({ ...row, ...counts[i] })),
  };
}

/** Damage that the server reports: wrong page checksums, invalid indexes. */
export async function checkIntegrity(db: PostgresConnection): Promise<string[]> {
  const [checksums, indexes] = await db.send([query(SQL.checksums), query(SQL.invalidIndexes)]);
  return [
    ...(checksums?.rows ?? []).map(
      (row) => `${row["count"]} pages of the database had a wrong checksum; restore a backup`,
    ),
    ...(indexes?.rows ?? []).map(
      (row) => `the index ${row["name"]} is not valid; rebuild it (REINDEX)`,
    ),
  ];
}
