/** Answers the index's reads. */

import { eachFilter, filtersOf } from "../../../model/session-filters.ts";
import {
  type Answers,
  EMPTY_MANIFEST,
  type Manifest,
  type Need,
  type SessionCondition,
  type SessionPath,
} from "../../../search/port.ts";
import { IS_WHOLE, toSessionPaths } from "../../index/window.ts";
import { sessionTest } from "../operations/list-sessions.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { readFeedSlice } from "./feed-slice.ts";
import { readManifest } from "./manifest.ts";
import type { SegmentFile } from "./segment-file.ts";
import { listStored } from "./segments.ts";
import { readWindows } from "./windows.ts";

const SQL = statements("answers", {
  leaves: `SELECT t.session, ${IS_WHOLE} AS whole, t.leaf_chain AS chain, t.leaf_depth AS depth
    FROM json_each(?) wanted
    CROSS JOIN session_state t ON t.tenant = ? AND t.session = wanted.value`,
  active: `WITH RECURSIVE up (session, whole, chain, depth) AS (
      SELECT t.session, ${IS_WHOLE}, t.leaf_chain, t.leaf_depth FROM json_each(?2) wanted
        CROSS JOIN session_state t ON t.tenant = ?1 AND t.session = wanted.value
      UNION ALL
      SELECT up.session, up.whole, c.parent_chain, c.fork_depth FROM up
        CROSS JOIN chains c ON c.tenant = ?1 AND c.session = up.session AND c.chain = up.chain
        WHERE c.parent_chain > 0)
    SELECT session, whole, chain, depth FROM up`,
  all: `SELECT session FROM sessions WHERE tenant = ? ORDER BY session`,
  count: `SELECT session_count FROM tenants WHERE tenant = ?`,
});

/** The statement of each filter, for a list of values. */
const LISTS = statements("scope_of", {
  ...eachFilter("search", ({ table, column }, name) => {
    if (column === undefined) {
      return `SELECT s.session FROM sessions s WHERE s.tenant = ?1
        AND EXISTS (SELECT 1 FROM json_each(?2) p
          WHERE p.value <> '' AND (${sessionTest(name, "p.value")}))`;
    }
    const from = table === undefined ? "session FROM sessions" : `DISTINCT session FROM ${table}`;
    return `SELECT ${from} WHERE tenant = ? AND ${column} IN (SELECT value FROM json_each(?))`;
  }),
  /** By id, which has an index; or by the path or its last parts, which have none. */
  project: `SELECT session FROM sessions WHERE tenant = ?1 AND project_id IS NOT NULL
      AND project_id IN (SELECT value FROM json_each(?2) WHERE value <> '')
    UNION SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.project_path IS NOT NULL
      AND EXISTS (SELECT 1 FROM json_each(?2) p WHERE p.value <> '' AND (s.project_path = p.value
        OR substr(s.project_path, -length(p.value) - 1) IN ('/' || p.value, '\\' || p.value)))`,
  /** The whole remote, or its last parts. */
  repo: `SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.repo IS NOT NULL
    AND EXISTS (SELECT 1 FROM json_each(?2) r WHERE r.value <> '' AND (${sessionTest("repo", "r.value")}))`,
});

/**
 * The manifest, without its segments if the file has none of them: it was deleted, or is another
 * store's. Then all of the feed is unindexed, and a search reads it instead.
 */
export function usableManifest(db: SqliteConnection, file: SegmentFile, tenant: number): Manifest {
  const manifest = readManifest(db, tenant);
  if (manifest.segments.length === 0) return manifest;
  const stored = new Set(listStored(file.open(), tenant));
  if (manifest.segments.some(({ segment }) => stored.has(segment))) return manifest;
  return { ...EMPTY_MANIFEST, version: manifest.version };
}

type ReadNeed = Exclude<Need, { need: "write" | "swap" | "yield" }>;

export function answerRead(
  db: SqliteConnection,
  file: SegmentFile,
  tenant: number,
  need: ReadNeed,
): Answers[ReadNeed["need"]] {
  switch (need.need) {
    case "manifest":
      return usableManifest(db, file, tenant);
    case "feed":
      return readFeedSlice(db, tenant, need.after, need.limit, need.whole);
    case "blobs":
      return file.readAll(tenant, need.keys);
    case "paths":
      return readPaths(db, tenant, need.sessions);
    case "scope":
      return readScope(db, tenant, need.scope);
    case "sessionCount":
      return countSessions(db, tenant);
    case "windows":
      return readWindows(db, tenant, need.windows);
  }
}

function readPaths(
  db: SqliteConnection,
  tenant: number,
  sessions: readonly number[],
): SessionPath[] {
  const leaves = db.all(SQL.leaves, JSON.stringify(sessions), tenant);
  // Most sessions never branched: reading the leaf alone takes a fifth of the time.
  const branched = leaves.filter(({ chain }) => Number(chain) > 1).map(({ session }) => session);
  if (branched.length === 0) return toSessionPaths(leaves);
  const plain = leaves.filter(({ chain }) => Number(chain) <= 1);
  const paths = db.all(SQL.active, tenant, JSON.stringify(branched));
  return toSessionPaths([...plain, ...paths]);
}

/**
 * Index intersection: the sessions in a search's scope, ascending. Each filter uses its own index
 * where there is one, and the results are intersected here.
 */
function readScope(db: SqliteConnection, tenant: number, scope: SessionCondition): Uint32Array {
  let kept: Set<number> | undefined;
  for (const [name] of filtersOf("search")) {
    const values = scope[name];
    if (values === undefined || name === "excludeSession") continue;
    const found = numbers(db.all(LISTS[name], tenant, JSON.stringify(values)));
    kept = new Set(kept === undefined ? found : found.filter((session) => kept?.has(session)));
  }
  kept ??= new Set(numbers(db.all(SQL.all, tenant)));
  if (scope.excludeSession !== undefined) {
    const excluded = JSON.stringify(scope.excludeSession);
    for (const session of numbers(db.all(LISTS.excludeSession, tenant, excluded)))
      kept.delete(session);
  }
  return Uint32Array.from(kept).sort();
}

function countSessions(db: SqliteConnection, tenant: number): number {
  return Number(db.get(SQL.count, tenant)?.["session_count"] ?? 0);
}

function numbers(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => Number(row["session"]));
}
