/** Leases: leader election by the database's clock. */

import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const SQL = statements("leases", {
  take: `INSERT INTO leases AS held (name, owner, expires_at) VALUES ($1, $2, ${NOW} + $3::bigint)
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
    WHERE held.owner = excluded.owner OR held.expires_at <= ${NOW} RETURNING name`,
  drop: `DELETE FROM leases WHERE name = $1 AND owner = $2`,
  forget: `DELETE FROM leases WHERE expires_at <= ${NOW}`,
});

export async function takeLease(
  tx: Transaction,
  name: string,
  owner: string,
  durationMs: number,
): Promise<boolean> {
  const row = await tx.get(SQL.take, name, owner, durationMs);
  await tx.commit();
  return row !== undefined;
}

export async function dropLease(tx: Transaction, name: string, owner: string): Promise<void> {
  tx.defer(SQL.drop, name, owner);
  await tx.commit();
}

/** Deletes expired leases. */
export async function forgetLeases(tx: Transaction): Promise<void> {
  tx.defer(SQL.forget);
  await tx.commit();
}
