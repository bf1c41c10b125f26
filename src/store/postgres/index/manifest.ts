/**
 * Compare-and-swap of a tenant's index manifest, and the lease under which the manifest is
 * changed, whose epoch is the fencing token.
 */

import { type Manifest, namedSegments } from "../../../search/port.ts";
import { type IndexStatus, toIndexStatus } from "../../index/index-status.ts";
import { isDeadHolder, type Lease } from "../../index/lease.ts";
import { encodeManifest, toManifest } from "../../index/manifest-codec.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { dropOthers } from "./segments.ts";

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const SQL = statements("manifest", {
  read: `SELECT n.feed_position, m.version, m.through, m.body
    FROM tenants n LEFT JOIN index_manifest m ON m.tenant = n.tenant WHERE n.tenant = $1`,
  ensure: `INSERT INTO index_manifest (tenant, version) VALUES ($1, 0) ON CONFLICT DO NOTHING`,
  swap: `UPDATE index_manifest SET version = $3, through = $4, body = $5
    WHERE tenant = $1 AND version = $2 AND holder = $6 AND epoch = $7 RETURNING version`,
  take: `UPDATE index_manifest SET holder = $2, epoch = epoch + 1, expires_at = ${NOW} + $3::bigint
    WHERE tenant = $1 AND (holder IS NULL OR holder IN ($2, $4) OR expires_at <= ${NOW})
    RETURNING epoch`,
  holder: `SELECT holder FROM index_manifest WHERE tenant = $1`,
  renew: `UPDATE index_manifest SET expires_at = ${NOW} + $4::bigint
    WHERE tenant = $1 AND holder = $2 AND epoch = $3 RETURNING epoch`,
  release: `UPDATE index_manifest SET holder = NULL, expires_at = 0
    WHERE tenant = $1 AND holder = $2 AND epoch = $3`,
  status: `SELECT n.feed_position, m.version, m.through, m.body,
      CASE WHEN m.expires_at > ${NOW} THEN m.holder END AS holder
    FROM tenants n LEFT JOIN index_manifest m ON m.tenant = n.tenant WHERE n.tenant = $1`,
  lag: `SELECT n.feed_position - coalesce(m.through, 0) AS lag
    FROM tenants n LEFT JOIN index_manifest m ON m.tenant = n.tenant WHERE n.tenant = $1`,
});

/** The feed's end, as read with the manifest. */
const heads = new WeakMap<Transaction, number>();

export async function readManifest(tx: Transaction): Promise<Manifest> {
  const row = await tx.get(SQL.read, tx.tenant);
  heads.set(tx, Number(row?.["feed_position"] ?? 0));
  return toManifest(row);
}

/** The feed's end in this transaction, if known without a query. */
export function knownHead(tx: Transaction): number | undefined {
  return heads.get(tx);
}

/** Compare-and-swap: false if another process was first. */
export async function swapManifest(
  tx: Transaction,
  expected: number,
  manifest: Manifest,
  { holder, epoch }: Lease,
): Promise<boolean> {
  const { version, through } = manifest;
  const body = encodeManifest(manifest);
  const row = await tx.get(SQL.swap, tx.tenant, expected, version, through, body, holder, epoch);
  if (row === undefined) return false;
  dropOthers(tx, namedSegments(manifest));
  return true;
}

/** Undefined while another holder's lease is valid. */
export async function takeLease(
  tx: Transaction,
  holder: string,
  ms: number,
): Promise<Lease | undefined> {
  tx.defer(SQL.ensure, tx.tenant);
  const other = (await tx.get(SQL.holder, tx.tenant))?.["holder"];
  const dead = typeof other === "string" && isDeadHolder(other) ? other : holder;
  const row = await tx.get(SQL.take, tx.tenant, holder, ms, dead);
  return row === undefined ? undefined : { holder, epoch: Number(row["epoch"]), ms };
}

/** False if the lease was taken over. */
export async function renewLease(tx: Transaction, { holder, epoch, ms }: Lease): Promise<boolean> {
  return (await tx.get(SQL.renew, tx.tenant, holder, epoch, ms)) !== undefined;
}

export async function releaseLease(tx: Transaction, { holder, epoch }: Lease): Promise<void> {
  tx.defer(SQL.release, tx.tenant, holder, epoch);
}

export async function indexStatus(tx: Transaction): Promise<IndexStatus> {
  const row = await tx.get(SQL.status, tx.tenant);
  const head = Number(row?.["feed_position"] ?? 0);
  return toIndexStatus(toManifest(row), head, (row?.["holder"] ?? null) as string | null);
}

/** The number of unindexed changes. */
export async function indexLag(tx: Transaction): Promise<number> {
  const row = await tx.get(SQL.lag, tx.tenant);
  return Number(row?.["lag"] ?? 0);
}
