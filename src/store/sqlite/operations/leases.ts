/** Leases: leader election by the database's clock. */

import type { SqliteConnection } from "../sqlite-driver.ts";
import { NOW, statements } from "../sqlite-statements.ts";

const SQL = statements("leases", {
  take: `INSERT INTO leases (name, owner, expires_at) VALUES (?, ?, ${NOW} + ?)
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
    WHERE leases.owner = excluded.owner OR leases.expires_at <= ${NOW}`,
  drop: `DELETE FROM leases WHERE name = ? AND owner = ?`,
  forget: `DELETE FROM leases WHERE expires_at <= ${NOW}`,
});

export function takeLease(
  db: SqliteConnection,
  name: string,
  owner: string,
  durationMs: number,
): boolean {
  return db.run(SQL.take, name, owner, durationMs) === 1;
}

export function dropLease(db: SqliteConnection, name: string, owner: string): void {
  db.run(SQL.drop, name, owner);
}

/** Deletes expired leases. */
export function forgetLeases(db: SqliteConnection): void {
  db.run(SQL.forget);
}
