/**
 * Compare-and-swap of a tenant's index manifest, and the lease under which the manifest is
 * changed, whose epoch is the fencing token.
 */

import type { Manifest } from "../../../search/port.ts";
import { type IndexStatus, toIndexStatus } from "../../index/index-status.ts";
import { isDeadHolder, type Lease } from "../../index/lease.ts";
import { encodeManifest, toManifest } from "../../index/manifest-codec.ts";
import { findTenant } from "../operations/feed.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { NOW, statements } from "../sqlite-statements.ts";

const SQL = statements("manifest", {
  read: `SELECT version, through, body FROM index_manifest WHERE tenant = ?`,
  ensure: `INSERT INTO index_manifest (tenant, version) VALUES (?, 0) ON CONFLICT DO NOTHING`,
  swap: `UPDATE index_manifest SET version = ?, through = ?, body = ?
    WHERE tenant = ? AND version = ? AND holder = ? AND epoch = ?`,
  take: `UPDATE index_manifest SET holder = ?, epoch = epoch + 1, expires_at = ${NOW} + ?
    WHERE tenant = ? AND (holder IS NULL OR holder IN (?, ?) OR expires_at <= ${NOW})
    RETURNING epoch`,
  holder: `SELECT holder FROM index_manifest WHERE tenant = ?`,
  renew: `UPDATE index_manifest SET expires_at = ${NOW} + ?
    WHERE tenant = ? AND holder = ? AND epoch = ?`,
  release: `UPDATE index_manifest SET holder = NULL, expires_at = 0
    WHERE tenant = ? AND holder = ? AND epoch = ?`,
  status: `SELECT n.feed_position, m.version, m.through, m.body,
      CASE WHEN m.expires_at > ${NOW} THEN m.holder END AS holder
    FROM tenants_now n LEFT JOIN index_manifest m ON m.tenant = n.tenant WHERE n.tenant = ?`,
  lag: `SELECT n.feed_position - coalesce(m.through, 0) AS lag
    FROM tenants_now n LEFT JOIN index_manifest m ON m.tenant = n.tenant WHERE n.tenant = ?`,
});

export function readManifest(db: SqliteConnection, tenant: number): Manifest {
  return toManifest(db.get(SQL.read, tenant));
}

/** Compare-and-swap inside a write transaction: false if another process was first. */
export function swapManifest(
  db: SqliteConnection,
  tenant: number,
  expected: number,
  manifest: Manifest,
  lease: Lease,
): boolean {
  const { version, through } = manifest;
  const { holder, epoch } = lease;
  const body = encodeManifest(manifest);
  return db.run(SQL.swap, version, through, body, tenant, expected, holder, epoch) === 1;
}

/** Inside a write transaction. Undefined while another holder's lease is valid. */
export function takeLease(
  db: SqliteConnection,
  tenant: number,
  holder: string,
  ms: number,
): Lease | undefined {
  db.run(SQL.ensure, tenant);
  const other = db.get(SQL.holder, tenant)?.["holder"] as string | null | undefined;
  const dead = typeof other === "string" && isDeadHolder(other) ? other : holder;
  const row = db.get(SQL.take, holder, ms, tenant, holder, dead);
  return row === undefined ? undefined : { holder, epoch: Number(row["epoch"]), ms };
}

/** False if the lease was taken over. */
export function renewLease(db: SqliteConnection, tenant: number, lease: Lease): boolean {
  return db.run(SQL.renew, lease.ms, tenant, lease.holder, lease.epoch) === 1;
}

export function releaseLease(db: SqliteConnection, tenant: number, lease: Lease): void {
  db.run(SQL.release, tenant, lease.holder, lease.epoch);
}

/** `usable` gives the manifest as a search sees it. */
export function indexStatus(
  db: SqliteConnection,
  name: string,
  usable: (tenant: number, manifest: Manifest) => Manifest = (_, manifest) => manifest,
): IndexStatus {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.status, tenant);
  const head = Number(row?.["feed_position"] ?? 0);
  const manifest = usable(tenant ?? 0, toManifest(row));
  return toIndexStatus(manifest, head, (row?.["holder"] ?? null) as string | null);
}

/** The number of unindexed changes. */
export function indexLag(db: SqliteConnection, name: string): number {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.lag, tenant);
  return Number(row?.["lag"] ?? 0);
}
