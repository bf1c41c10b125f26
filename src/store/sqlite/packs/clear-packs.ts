/** Rewrites packs without erased entries. */

import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { readPack } from "./read-pack.ts";

const SQL = statements("clear_packs", {
  packOf: `SELECT pack FROM entries WHERE tenant = ? AND session = ? AND sequence = ?`,
  keepMetadata: `UPDATE entries SET metadata = coalesce(metadata, ?), pack = NULL
    WHERE tenant = ? AND session = ? AND sequence = ?`,
  replace: `UPDATE packs SET bytes = ? WHERE tenant = ? AND session = ? AND pack = ?`,
  delete: `DELETE FROM packs WHERE tenant = ? AND session = ? AND pack = ?`,
  /** Keeps the last pack, which may extend beyond that sequence: its number is that of its first entry. */
  deleteThrough: `DELETE FROM packs WHERE tenant = ?1 AND session = ?2 AND pack < (
      SELECT max(pack) FROM packs WHERE tenant = ?1 AND session = ?2 AND pack <= ?3)`,
  deleteAll: `DELETE FROM packs WHERE tenant = ? AND session = ?`,
});

/** Removes entries from their packs. Metadata returns to their rows, content is erased. */
export function eraseFromPacks(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequences: readonly number[],
): void {
  const slots = new Map<number, Set<number>>();
  for (const sequence of sequences) {
    const number = db.get(SQL.packOf, tenant, session, sequence)?.["pack"];
    if (typeof number !== "number") continue;
    // Another connection may have changed it since it was cached.
    if (!slots.has(number)) db.packs.drop(tenant, session, number);
    const slot = sequence - number;
    const metadata = readPack(db, tenant, session, number).metadata(slot);
    const bytes = metadata === null ? null : Buffer.from(metadata);
    db.run(SQL.keepMetadata, bytes, tenant, session, sequence);
    slots.set(number, (slots.get(number) ?? new Set()).add(slot));
  }
  for (const [number, erased] of slots) {
    const left = readPack(db, tenant, session, number).without(erased);
    if (left === undefined) db.run(SQL.delete, tenant, session, number);
    else db.run(SQL.replace, left, tenant, session, number);
    db.packs.drop(tenant, session, number);
  }
}

/** Deletes the packs of entries up to a sequence, except the last of them. */
export function deletePacksThrough(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: number,
): void {
  db.run(SQL.deleteThrough, tenant, session, sequence);
}

export function deletePacks(db: SqliteConnection, tenant: number, session: number): void {
  db.run(SQL.deleteAll, tenant, session);
}
