/**
 * Detects lost commits: an index that is ahead of the feed.
 *
 * Segments are built from committed changes, and the segment file records their position. If that
 * is beyond the feed's end, the log was damaged or removed, or the database was replaced by an older
 * copy. The loss is recorded in the store, because new changes soon reach the same positions.
 */

import type { StoreLoss } from "../../../model/store-loss.ts";
import { EMPTY_MANIFEST } from "../../../search/port.ts";
import { encodeManifest } from "../../index/manifest-codec.ts";
import { SegmentFile } from "../index/segment-file.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { readEpoch } from "../sqlite-schema.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("index_ahead", {
  /** In the file of segments. */
  note: `INSERT INTO index_store (key, value) VALUES ('through/' || ?1, json_object('name', ?2, 'through', ?3))
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE json_extract(index_store.value, '$.through') < ?3`,
  notes: `SELECT CAST(substr(key, 9) AS INTEGER) AS tenant, json_extract(value, '$.name') AS name,
      json_extract(value, '$.through') AS through
    FROM index_store WHERE key LIKE 'through/%'`,
  forgetNote: `DELETE FROM index_store WHERE key = 'through/' || ?`,

  /** In the store. `tenants_now` is current, `tenants` may lag. */
  heads: `SELECT t.tenant, t.name, t.feed_position, m.through
    FROM tenants t LEFT JOIN index_manifest m ON m.tenant = t.tenant`,
  head: `SELECT feed_position FROM tenants_now WHERE tenant = ?`,
  record: `INSERT INTO store (key, value) VALUES ('index_loss/' || ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  recorded: `SELECT CAST(substr(key, 12) AS INTEGER) AS tenant, value
    FROM store WHERE key LIKE 'index_loss/%' ORDER BY key`,
  forget: `DELETE FROM store WHERE key = 'index_loss/' || ?`,
  emptyManifest: `UPDATE index_manifest SET version = version + 1, through = 0, body = ?
    WHERE tenant = ?`,
});

/** As recorded. */
interface IndexLoss {
  readonly name: string;
  readonly through: number;
  readonly head: number;
  readonly foundAt: number;
}

/** Records the indexed position in the segment file. Inside the caller's transaction. */
export function noteThrough(
  segments: SqliteConnection,
  tenant: number,
  name: string,
  through: number,
): void {
  segments.run(SQL.note, tenant, name, through);
}

/**
 * Unacknowledged losses: recorded ones and new findings, which are recorded unless the store is
 * read-only.
 */
export function findIndexLosses(
  db: SqliteConnection,
  readOnly: boolean,
): { readonly recorded: readonly StoreLoss[]; readonly found: readonly StoreLoss[] } {
  const recorded = readRecorded(db);
  const found = new Map<number, IndexLoss>();
  for (const [tenant, loss] of findAhead(db, readOnly)) {
    if (loss.through > (recorded.get(tenant)?.through ?? 0)) found.set(tenant, loss);
  }
  if (!readOnly && found.size > 0) record(db, found);
  for (const tenant of found.keys()) recorded.delete(tenant);
  return { recorded: toStoreLosses(recorded), found: toStoreLosses(found) };
}

export function listIndexLosses(db: SqliteConnection): StoreLoss[] {
  return toStoreLosses(readRecorded(db));
}

/**
 * Deletes the recorded losses and the index, which maintenance rebuilds. Gives the acknowledged
 * losses.
 */
export function acceptIndexLosses(db: SqliteConnection): StoreLoss[] {
  const recorded = readRecorded(db);
  if (recorded.size === 0) return [];
  const body = encodeManifest(EMPTY_MANIFEST);
  withSegments(db, false, (segments) => {
    for (const tenant of recorded.keys()) segments.run(SQL.forgetNote, tenant);
  });
  inTransaction(db, () => {
    for (const tenant of recorded.keys()) {
      db.run(SQL.emptyManifest, body, tenant);
      db.run(SQL.forget, tenant);
    }
  });
  return toStoreLosses(recorded);
}

function findAhead(db: SqliteConnection, readOnly: boolean): Map<number, IndexLoss> {
  const foundAt = Date.now();
  const ahead = new Map<number, IndexLoss>();
  const heads = new Map(db.all(SQL.heads).map((row) => [Number(row["tenant"]), row]));
  const compare = (tenant: number, name: string, through: number) => {
    if (through <= Number(heads.get(tenant)?.["feed_position"] ?? 0)) return;
    const head = Number(db.get(SQL.head, tenant)?.["feed_position"] ?? 0);
    if (through > head) ahead.set(tenant, { name, through, head, foundAt });
  };
  for (const [tenant, row] of heads) {
    compare(tenant, String(row["name"]), Number(row["through"] ?? 0));
  }
  withSegments(db, readOnly, (segments) => {
    for (const row of segments.all(SQL.notes)) {
      compare(Number(row["tenant"]), String(row["name"]), Number(row["through"]));
    }
  });
  return ahead;
}

function readRecorded(db: SqliteConnection): Map<number, IndexLoss> {
  return new Map(
    db.all(SQL.recorded).map((row) => {
      return [Number(row["tenant"]), JSON.parse(String(row["value"])) as IndexLoss];
    }),
  );
}

function record(db: SqliteConnection, found: ReadonlyMap<number, IndexLoss>): void {
  inTransaction(db, () => {
    for (const [tenant, loss] of found) db.run(SQL.record, tenant, JSON.stringify(loss));
  });
}

/** Ignores damage in the segment file: see `segment-file.ts`. */
function withSegments(
  db: SqliteConnection,
  readOnly: boolean,
  use: (segments: SqliteConnection) => void,
): void {
  const file = new SegmentFile(db.path, readOnly, () => readEpoch(db));
  try {
    file.use(use);
  } finally {
    file.close();
  }
}

function inTransaction(db: SqliteConnection, action: () => void): void {
  db.begin();
  try {
    action();
    db.commit();
  } catch (error) {
    db.rollback();
    throw error;
  }
}

function toStoreLosses(losses: ReadonlyMap<number, IndexLoss>): StoreLoss[] {
  return [...losses.values()].map(({ name, through, head, foundAt }) => {
    return { kind: "index", foundAt, tenant: name, changes: through - head };
  });
}
