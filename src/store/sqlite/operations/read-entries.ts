/** Reading entries: pages of a path or of the whole tree, never a whole session. */

import {
  isOnPath,
  type PathRange,
  pathRanges,
  rangesWithOrdinals,
} from "../../../transcript/path.ts";
import type { Point } from "../../../transcript/place.ts";
import {
  type EntryPage,
  type EntryQuery,
  HISTORY_KINDS,
  type HistoryKinds,
} from "../../entry-query.ts";
import type { EntryRecord, EntryUsage } from "../../records.ts";
import { toEntry, toEntryUsage, USAGE_COLUMNS } from "../../rows/entry-row.ts";
import { toPathEnd } from "../../rows/state-row.ts";
import { entryNotFound, sessionNotFound } from "../../store-errors.ts";
import { unfold } from "../packs/read-pack.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findPoint, readState } from "./append.ts";
import { readPayloads } from "./blobs.ts";
import { readChains } from "./chains.ts";
import { ENTRY_COLUMNS, STORED_NAMES } from "./entry-columns.ts";
import { findTenant } from "./feed.ts";

const SQL = statements("read_entries", {
  messages: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal BETWEEN ? AND ?
      AND e.depth <= ? AND e.kind = 'message' AND e.status = 'committed'
    ORDER BY e.ordinal LIMIT ?`,
  /** Backwards: the newest of a range first. */
  history: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND e.status = 'committed' AND e.kind IN (?, ?, ?, ?)
    ORDER BY e.ordinal DESC, e.depth DESC LIMIT ?`,
  path: `SELECT ${ENTRY_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND (e.ordinal, e.depth, e.sequence) > (?, ?, ?)
    ORDER BY e.ordinal, e.depth, e.sequence LIMIT ?`,
  tree: `SELECT ${ENTRY_COLUMNS}, e.nonce FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
  findById: `SELECT ${ENTRY_COLUMNS}, e.nonce, s.id AS session_id, e.session FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.id = ?`,
  usage: `SELECT ${USAGE_COLUMNS} FROM entries e WHERE e.tenant = ? AND e.id = ?`,
  /** Nothing continues from the end of a chain: else it would be part of the chain. */
  leaves: `SELECT ${ENTRY_COLUMNS} FROM chains c CROSS JOIN entries e ON e.entry = (
      SELECT d.entry FROM entries d WHERE d.tenant = c.tenant AND d.session = c.session
        AND d.chain = c.chain AND d.status = 'committed'
        AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
        ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1)
    WHERE c.tenant = ? AND c.session = ? ORDER BY c.chain DESC LIMIT ?`,
  label: `SELECT ${ENTRY_COLUMNS} FROM entries e INDEXED BY entries_labels
    WHERE e.tenant = ? AND e.session = ? AND e.kind = 'label' ORDER BY e.sequence DESC LIMIT ?`,
  pinned: `SELECT ${ENTRY_COLUMNS} FROM entries e INDEXED BY entries_pinned
    WHERE e.tenant = ? AND e.session = ? AND e.pinned = 1 ORDER BY e.sequence DESC LIMIT ?`,
  superseded: `SELECT ${ENTRY_COLUMNS} FROM entries e INDEXED BY entries_superseded
    WHERE e.tenant = ? AND e.session = ? AND e.superseded_by IS NOT NULL
    ORDER BY e.sequence DESC LIMIT ?`,
  summary: `SELECT ${ENTRY_COLUMNS} FROM entries e INDEXED BY entries_summaries
    WHERE e.tenant = ? AND e.session = ? AND e.kind IN ('compaction', 'summary')
    ORDER BY e.sequence DESC LIMIT ?`,
  marks: `SELECT EXISTS (SELECT 1 FROM entries INDEXED BY entries_summaries
      WHERE tenant = ? AND session = ? AND kind IN ('compaction', 'summary')) AS summary,
    EXISTS (SELECT 1 FROM entries INDEXED BY entries_pinned
      WHERE tenant = ? AND session = ? AND pinned = 1) AS pinned`,
});

/** Who reads the tree may want to check its hashes. */
const TREE_NAMES = [...STORED_NAMES, "nonce"];

export function readEntries(db: SqliteConnection, name: string, query: EntryQuery): EntryPage {
  const tenant = findTenant(db, name);
  const { number, state } = readState(db, tenant, query.sessionId);
  if (tenant === undefined) throw sessionNotFound(query.sessionId);
  const scope: Scope = { db, tenant, session: number, sessionId: query.sessionId };

  if (query.select === "tree") {
    const rows = db.records(SQL.tree, TREE_NAMES, tenant, number, query.afterSequence, query.limit);
    const page = toPage(scope, rows, state.lastSequence, query.payloads);
    return { ...page, rootHash: state.rootHash };
  }
  if (query.select === "marked" && query.leaf === undefined) {
    const rows = db.records(SQL[query.mark], STORED_NAMES, tenant, number, query.limit).reverse();
    return toPage(scope, rows, rows.length, query.payloads);
  }
  const leaf = query.leaf ?? undefined;
  const end = leaf === undefined ? state.leaf : findPoint(db, tenant, number, leaf);
  if (end === undefined) throw entryNotFound(leaf ?? "", query.sessionId);
  const ranges = pathRanges(end, readChains(db, tenant, number, end?.chain ?? 0));
  if (query.select === "marked") {
    const all = db
      .records(SQL[query.mark], STORED_NAMES, tenant, number, -1)
      .map((row) => ({ row, point: toPathEnd(row) }));
    const rows = all.filter(({ point }) => isOnPath(point, ranges)).map(({ row }) => row);
    const newest = rows.slice(0, query.limit).reverse();
    return toPage(scope, newest, newest.length, query.payloads);
  }
  const rows =
    query.select === "messages"
      ? readMessages(scope, ranges, query.offset, query.limit)
      : query.select === "history"
        ? readHistory(scope, ranges, query.before, query.include, query.limit)
        : readPath(scope, ranges, query.after, query.limit);
  const page = toPage(scope, rows, end?.ordinal ?? 0, query.payloads);
  if (query.select !== "history") return page;
  const marks = db.get(SQL.marks, tenant, number, tenant, number);
  return { ...page, marks: { summary: marks?.["summary"] === 1, pinned: marks?.["pinned"] === 1 } };
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
    if (row === undefined) return [];
    unfold(db, tenant, Number(row["session"]), row);
    return toEntry(row, String(row["session_id"]));
  });
  const contents = payloads ? entries.map((entry) => entry.content) : [];
  return { entries, payloads: readPayloads(db, tenant, contents), total: entries.length };
}

export function findUsage(
  db: SqliteConnection,
  name: string,
  ids: readonly string[],
): EntryUsage[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return ids.flatMap((id) => {
    const row = db.get(SQL.usage, tenant, id);
    return row === undefined ? [] : toEntryUsage(row);
  });
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
  return db
    .records(SQL.leaves, STORED_NAMES, tenant, number, limit)
    .map((row) => toEntry(unfold(db, tenant, number, row), sessionId));
}

interface Scope {
  readonly db: SqliteConnection;
  readonly tenant: number;
  readonly session: number;
  readonly sessionId: string;
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
    db.records(
      SQL.messages,
      STORED_NAMES,
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
  include: HistoryKinds,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
  const stop = before === undefined ? undefined : pathPoint(scope, ranges, before);
  const newest: SqlRow[] = [];
  for (const range of ranges.toReversed()) {
    if (newest.length >= limit) break;
    const maxDepth = Math.min(range.maxDepth, (stop?.depth ?? Number.POSITIVE_INFINITY) - 1);
    // Both bounds, though the depth alone would do: the index is ordered by ordinals.
    const maxOrdinal = Math.min(range.maxOrdinal, stop?.ordinal ?? Number.POSITIVE_INFINITY);
    const room = limit - newest.length;
    newest.push(
      ...db.records(
        SQL.history,
        STORED_NAMES,
        tenant,
        session,
        range.chain,
        maxOrdinal,
        maxDepth,
        ...HISTORY_KINDS[include],
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
      ...db.records(
        SQL.path,
        STORED_NAMES,
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
  const { db, tenant, session, sessionId } = scope;
  const entries = rows.map((row) => toEntry(unfold(db, tenant, session, row), sessionId));
  const contents = payloads ? entries.map((entry) => entry.content) : [];
  return { entries, payloads: readPayloads(db, tenant, contents), total };
}
