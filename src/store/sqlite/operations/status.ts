/** The store's counts and sizes, and its integrity check. */

import { existsSync, statSync } from "node:fs";
import { BackscrollError } from "../../../model/errors.ts";
import type { IndexStatus } from "../../index/index-status.ts";
import type { StoreStatus } from "../../records.ts";
import { toTenantStatus } from "../../rows/feed-row.ts";
import { MEMORY } from "../../store-options.ts";
import { usableManifest } from "../index/answer.ts";
import { indexStatus } from "../index/manifest.ts";
import { SegmentFile } from "../index/segment-file.ts";
import { listIndexLosses } from "../opening/index-ahead.ts";
import { SQLITE_MIGRATIONS } from "../schema/index.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { migrate, readEpoch, readSchema } from "../sqlite-schema.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("status", {
  tenants: `SELECT t.name, t.session_count, t.entry_count, t.message_count, t.content_bytes,
      t.feed_position, t.feed_hash, t.max_sessions, t.max_entries, t.max_content_bytes,
      i.version, i.through, i.body,
      (SELECT count(*) FROM streams r WHERE r.tenant = t.tenant) AS pending,
      (SELECT count(*) FROM memories m WHERE m.tenant = t.tenant) AS memories,
      (SELECT count(*) FROM facts f WHERE f.tenant = t.tenant) AS facts
    FROM tenants_now t LEFT JOIN index_manifest i ON i.tenant = t.tenant ORDER BY t.name`,
});

export function status(db: SqliteConnection): StoreStatus {
  const pages = Number(db.get("PRAGMA page_count")?.["page_count"]);
  const pageSize = Number(db.get("PRAGMA page_size")?.["page_size"]);
  const wal = `${db.path}-wal`;
  return {
    backend: "sqlite",
    address: db.path,
    schemaVersion: readSchema(db)?.version ?? 0,
    epoch: readEpoch(db),
    databaseBytes: pages * pageSize,
    walBytes: db.path !== MEMORY && existsSync(wal) ? statSync(wal).size : 0,
    losses: listIndexLosses(db),
    followers: [],
    tenants: readTenants(db),
  };
}

function readTenants(db: SqliteConnection): StoreStatus["tenants"] {
  const tenants = db.all(SQL.tenants).map(toTenantStatus);
  const names = tenants.map(({ tenant }) => tenant);
  const indexes = usableIndexStatuses(db, names);
  return tenants.map((tenant, i) => {
    const { lag, segments, documents, bytes, vectors } = indexes[i] ?? tenant.index;
    return { ...tenant, index: { lag, segments, documents, bytes, vectors } };
  });
}

/** SQLite's own check of every page, index and foreign key; and of the schema's text. */
export function checkIntegrity(db: SqliteConnection): string[] {
  try {
    const damage = db
      .all("PRAGMA integrity_check(100)")
      .map((row) => String(row["integrity_check"]))
      .filter((line) => line !== "ok");
    return damage.length > 0 ? damage : [...checkSchemaText(db), ...danglingRows(db)];
  } catch (error) {
    // Damage may make the check itself fail.
    if (BackscrollError.is(error, "store_corrupt")) return [error.message];
    throw error;
  }
}

function danglingRows(db: SqliteConnection): string[] {
  return db
    .all("PRAGMA foreign_key_check")
    .map((row) => `a row of ${row["table"]} refers to a missing row of ${row["parent"]}`);
}

/** Changes when another connection, in this process or another, has committed. */
export function dataVersion(db: SqliteConnection): number {
  return db.dataVersion();
}

const OBJECTS = `SELECT type, name, tbl_name, sql FROM sqlite_schema
  WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`;

/**
 * Finds differences from a new store's schema: SQLite's integrity check does not notice a changed
 * schema text. Additional objects are ignored.
 */
function checkSchemaText(db: SqliteConnection): string[] {
  // Another version has another schema.
  if (readSchema(db)?.version !== SQLITE_MIGRATIONS.at(-1)?.version) return [];
  const own = new SqliteConnection(MEMORY);
  try {
    migrate(own);
    const stored = new Set(db.all(OBJECTS).map(textOf));
    return own
      .all(OBJECTS)
      .filter((row) => !stored.has(textOf(row)))
      .map(
        (row) =>
          `the definition of the ${row["type"]} ${row["name"]} differs from that of this schema version`,
      );
  } finally {
    own.close();
  }
}

/** White space in a definition is ignored. */
function textOf(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(row).replace(/\\n|\s/g, "");
}

/** An index whose file is missing, or is another store's, has nothing. */
export function usableIndexStatus(db: SqliteConnection, name: string): IndexStatus {
  return usableIndexStatuses(db, [name])[0] as IndexStatus;
}

function usableIndexStatuses(db: SqliteConnection, names: readonly string[]): IndexStatus[] {
  if (db.path === MEMORY) return names.map((name) => indexStatus(db, name));
  const file = new SegmentFile(db.path, true, () => readEpoch(db));
  const usable = (tenant: number) => usableManifest(db, file, tenant);
  try {
    return names.map((name) => indexStatus(db, name, usable));
  } finally {
    file.close();
  }
}
