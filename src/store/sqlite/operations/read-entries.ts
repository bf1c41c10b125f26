/** Reading entries: pages of a path or of the whole tree, never a whole session. */

import {
  isOnPath,
  type PathRange,
  pathRanges,
  rangesWithOrdinals,
} from "../../../transcript/path.ts";
import type { Chain, Point } from "../../../transcript/place.ts";
import type { EntryPage, EntryQuery, EntryRecord } from "../../records.ts";
import { ENTRY_COLUMNS, toEntry } from "../../rows/entry-row.ts";
import { toChain } from "../../rows/state-row.ts";
import { entryNotFound, sessionNotFound } from "../../store-errors.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findPoint, readState } from "./append.ts";
import { readPayloads } from "./blobs.ts";
import { findTenant } from "./feed.ts";

const SQL = statements("read_entries", {
  /** The chains from one to the root. */
  chainsToRoot: `WITH RECURSIVE up (chain, parent_chain, fork_depth, fork_ordinal) AS (
      SELECT chain, parent_chain, fork_depth, fork_ordinal FROM chains
        WHERE tenant = ?1 AND session = ?2 AND chain = ?3
      UNION ALL
      SELECT c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM chains c
        JOIN up ON c.chain = up.parent_chain WHERE c.tenant = ?1 AND c.session = ?2)
    SELECT chain, parent_chain, fork_depth, fork_ordinal FROM up`,
  messages: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal BETWEEN ? AND ?
      AND e.depth <= ? AND e.kind = 'message' AND e.status = 'committed'
    ORDER BY e.ordinal LIMIT ?`,
  /** Backwards: the newest of a range first. */
  history: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND e.status = 'committed' AND (e.kind = 'message' OR (? AND e.kind = 'compaction'))
    ORDER BY e.ordinal DESC, e.depth DESC LIMIT ?`,
  path: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND (e.ordinal, e.depth, e.sequence) > (?, ?, ?)
    ORDER BY e.ordinal, e.depth, e.sequence LIMIT ?`,
  tree: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
  findById: `SELECT ${ENTRY_COLUMNS}, s.id AS session_id FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.id = ?`,
  /** Nothing continues from the end of a chain: else it would be part of the chain. */
  leaves: `SELECT ${ENTRY_COLUMNS} FROM chains c CROSS JOIN entries e ON e.entry = (
      SELECT d.entry FROM entries d WHERE d.tenant = c.tenant AND d.session = c.session
        AND d.chain = c.chain AND d.status = 'committed'
        AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
        ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1)
    WHERE c.tenant = ? AND c.session = ? ORDER BY c.chain DESC LIMIT ?`,
  labels: `SELECT ${ENTRY_COLUMNS} FROM entries e INDEXED BY entries_labels
    WHERE e.tenant = ? AND e.session = ? AND e.kind = 'label' ORDER BY e.sequence`,
});

export function readEntries(db: SqliteConnection, name: string, query: EntryQuery): EntryPage {
  const tenant = findTenant(db, name);
  const { number, state } = readState(db, tenant, query.sessionId);
  if (tenant === undefined) throw sessionNotFound(query.sessionId);
  const scope: Scope = { db, tenant, session: number, sessionId: query.sessionId };

  if (query.select === "tree") {
    const rows = db.all(SQL.tree, tenant, number, query.afterSequence, query.limit);
    const page = toPage(scope, rows, state.lastSequence, query.payloads);
    return { ...page, rootHash: state.rootHash };
  }
  const end = query.leaf === undefined ? state.leaf : findPoint(db, tenant, number, query.leaf);
  if (end === undefined) throw entryNotFound(query.leaf ?? "", query.sessionId);
  const ranges = pathRanges(end, readChains(scope, end?.chain ?? 0));
  const rows =
    query.select === "messages"
      ? readMessages(scope, ranges, query.offset, query.limit)
      : query.select === "history"
        ? readHistory(scope, ranges, query.before, query.summaries, query.limit)
        : readPath(scope, ranges, query.after, query.limit);
  return toPage(scope, rows, end?.ordinal ?? 0, query.payloads);
}

export function findEntries(
  db: SqliteConnection,
  name: string,
  ids: readonly string[],
  payloads: boolean,
): EntryPage {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { entries: [], payloads: new Map(), total: 0 };
  const entries = ids.flatMap((id) => {
    const row = db.get(SQL.findById, tenant, id);
    return row === undefined ? [] : toEntry(row, String(row["session_id"]));
  });
  const contents = payloads ? entries.map((entry) => entry.content) : [];
  return { entries, payloads: readPayloads(db, tenant, contents), total: entries.length };
}

export function listLeaves(
  db: SqliteConnection,
  name: string,
  sessionId: string,
  limit: number,
): EntryRecord[] {
  const tenant = findTenant(db, name);
  const { number } = readState(db, tenant, sessionId);
  if (tenant === undefined) return [];
  return db.all(SQL.leaves, tenant, number, limit).map((row) => toEntry(row, sessionId));
}

export function listLabels(db: SqliteConnection, name: string, sessionId: string): EntryRecord[] {
  const tenant = findTenant(db, name);
  const { number } = readState(db, tenant, sessionId);
  if (tenant === undefined) return [];
  return db.all(SQL.labels, tenant, number).map((row) => toEntry(row, sessionId));
}

interface Scope {
  readonly db: SqliteConnection;
  readonly tenant: number;
  readonly session: number;
  readonly sessionId: string;
}

function readChains({ db, tenant, session }: Scope, chain: number): Map<number, Chain> {
  const rows = chain === 0 ? [] : db.all(SQL.chainsToRoot, tenant, session, chain);
  return new Map(rows.map(toChain).map((each) => [each.chain, each]));
}

function readMessages(
  scope: Scope,
  ranges: readonly PathRange[],
  offset: number,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
  const from = offset + 1;
  const to = offset + limit;
  return rangesWithOrdinals(ranges, from, to).flatMap((range) =>
    db.all(
      SQL.messages,
      tenant,
      session,
      range.chain,
      Math.max(from, range.afterOrdinal + 1),
      Math.min(to, range.maxOrdinal),
      range.maxDepth,
      limit,
    ),
  );
}

function readHistory(
  scope: Scope,
  ranges: readonly PathRange[],
  before: string | undefined,
  summaries: boolean,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
  const stop = before === undefined ? undefined : pathPoint(scope, ranges, before);
  const newest: SqlRow[] = [];
  for (const range of ranges.toReversed()) {
    if (newest.length >= limit) break;
    const maxDepth = stop === undefined ? range.maxDepth : Math.min(range.maxDepth, stop.depth - 1);
    const room = limit - newest.length;
    newest.push(
      ...db.all(
        SQL.history,
        tenant,
        session,
        range.chain,
        range.maxOrdinal,
        maxDepth,
        summaries ? 1 : 0,
        room,
      ),
    );
  }
  return newest.reverse();
}

function readPath(
  scope: Scope,
  ranges: readonly PathRange[],
  after: string | undefined,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
  const last = after === undefined ? undefined : pathPoint(scope, ranges, after);
  const start = ranges.findIndex((range) => range.chain === (last?.chain ?? 0));
  const rows: SqlRow[] = [];
  for (const range of ranges.slice(start)) {
    if (rows.length >= limit) break;
    const from = range.chain === last?.chain ? last : { ordinal: -1, depth: -1, sequence: -1 };
    rows.push(
      ...db.all(
        SQL.path,
        tenant,
        session,
        range.chain,
        range.maxOrdinal,
        range.maxDepth,
        from.ordinal,
        from.depth,
        from.sequence,
        limit - rows.length,
      ),
    );
  }
  return rows;
}

/** An entry that must be on the path that `ranges` describe. */
function pathPoint(scope: Scope, ranges: readonly PathRange[], id: string): Point {
  const point = findPoint(scope.db, scope.tenant, scope.session, id);
  if (point === undefined || !isOnPath(point, ranges)) throw entryNotFound(id, scope.sessionId);
  return point;
}

function toPage(
  scope: Scope,
  rows: readonly SqlRow[],
  total: number,
  payloads: boolean,
): EntryPage {
  const entries = rows.map((row) => toEntry(row, scope.sessionId));
  const contents = payloads ? entries.map((entry) => entry.content) : [];
  return { entries, payloads: readPayloads(scope.db, scope.tenant, contents), total };
}
