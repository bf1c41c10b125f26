/** Reads entries: pages of a path or of the whole tree. */

import { toHex, ZERO_HASH } from "../../../transcript/hash.ts";
import {
  isOnPath,
  type PathRange,
  pathRanges,
  rangesWithOrdinals,
} from "../../../transcript/path.ts";
import type { Point } from "../../../transcript/place.ts";
import { checkEntries, namingHolder, parentsIn } from "../../damage/check-entries.ts";
import { checkHistory, checkMessages, checkPath, checkTree } from "../../damage/check-page.ts";
import { entryDamaged, isDamage } from "../../damage/damage-errors.ts";
import { storedBytesOrNull } from "../../damage/stored-json.ts";
import {
  type EntryPage,
  type EntryQuery,
  HISTORY_KINDS,
  type HistoryKinds,
} from "../../entry-query.ts";
import type { EntryRecord, EntryUsage, Row } from "../../records.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import { toEntry, toEntryUsage, USAGE_COLUMNS } from "../../rows/entry-row.ts";
import { toPathEnd } from "../../rows/state-row.ts";
import { entryNotFound, sessionNotFound } from "../../store-errors.ts";
import { unfold } from "../packs/read-pack.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findPoint, readState } from "./append.ts";
import { readPayloads } from "./blobs.ts";
import { readAllChains, readChains } from "./chains.ts";
import { STORED_ENTRY, STORED_NAMES } from "./entry-columns.ts";
import { findTenant } from "./feed.ts";

const SQL = statements("read_entries", {
  messages: `SELECT ${STORED_ENTRY} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal BETWEEN ? AND ?
      AND e.depth <= ? AND e.kind = 'message' AND e.status = 'committed'
    ORDER BY e.ordinal LIMIT ?`,
  /** Backwards: newest first. */
  history: `SELECT ${STORED_ENTRY} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND e.status = 'committed' AND e.kind IN (?, ?, ?, ?)
    ORDER BY e.ordinal DESC, e.depth DESC LIMIT ?`,
  path: `SELECT ${STORED_ENTRY} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.chain = ? AND e.ordinal <= ? AND e.depth <= ?
      AND (e.ordinal, e.depth, e.sequence) > (?, ?, ?)
    ORDER BY e.ordinal, e.depth, e.sequence LIMIT ?`,
  parentHash: `SELECT lower(hex(hash)) AS hash FROM entries WHERE tenant = ? AND id = ?`,
  tree: `SELECT ${STORED_ENTRY} FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
  rawTree: `SELECT ${STORED_ENTRY}, e.nonce FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
  findById: `SELECT ${STORED_ENTRY}, e.nonce, s.id AS session_id, s.root_hash, e.session
    FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.id = ? AND ${IS_THERE}`,
  usage: `SELECT ${USAGE_COLUMNS} FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = ? AND e.id = ? AND ${IS_THERE}`,
  /** The end of a chain has no child on the chain. */
  leaves: `SELECT ${STORED_ENTRY} FROM chains c CROSS JOIN entries e ON e.entry = (
      SELECT d.entry FROM entries d WHERE d.tenant = c.tenant AND d.session = c.session
        AND d.chain = c.chain AND d.status = 'committed'
        AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
        ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1)
    WHERE c.tenant = ? AND c.session = ? ORDER BY c.chain DESC LIMIT ?`,
  label: `SELECT ${STORED_ENTRY} FROM entries e INDEXED BY entries_labels
    WHERE e.tenant = ? AND e.session = ? AND e.kind = 'label' ORDER BY e.sequence DESC LIMIT ?`,
  pinned: `SELECT ${STORED_ENTRY} FROM entries e INDEXED BY entries_pinned
    WHERE e.tenant = ? AND e.session = ? AND e.pinned = 1 ORDER BY e.sequence DESC LIMIT ?`,
  superseded: `SELECT ${STORED_ENTRY} FROM entries e INDEXED BY entries_superseded
    WHERE e.tenant = ? AND e.session = ? AND e.superseded_by IS NOT NULL
    ORDER BY e.sequence DESC LIMIT ?`,
  summary: `SELECT ${STORED_ENTRY} FROM entries e INDEXED BY entries_summaries
    WHERE e.tenant = ? AND e.session = ? AND e.kind IN ('compaction', 'summary')
    ORDER BY e.sequence DESC LIMIT ?`,
  marks: `SELECT EXISTS (SELECT 1 FROM entries INDEXED BY entries_summaries
      WHERE tenant = ? AND session = ? AND kind IN ('compaction', 'summary')) AS summary,
    EXISTS (SELECT 1 FROM entries INDEXED BY entries_pinned
      WHERE tenant = ? AND session = ? AND pinned = 1) AS pinned`,
});

/** A verification computes the hashes anew. */
const RAW_TREE_NAMES = [...STORED_NAMES, "nonce"];

export function readEntries(db: SqliteConnection, name: string, query: EntryQuery): EntryPage {
  const tenant = findTenant(db, name);
  const isRaw = query.select === "tree" && query.isRaw === true;
  const { number, state } = readState(db, tenant, query.sessionId, isRaw);
  if (tenant === undefined) throw sessionNotFound(query.sessionId);
  const { sessionId } = query;
  const scope: Scope = { db, tenant, session: number, sessionId, rootHash: state.rootHash };

  if (query.select === "tree") {
    const { limit, after } = query;
    const { lastSequence, rootHash } = state;
    const point = after === undefined ? undefined : findPoint(db, tenant, number, after);
    if (after !== undefined && point === undefined) throw entryNotFound(after, sessionId);
    const afterSequence = point?.sequence ?? query.afterSequence;
    const rows = isRaw
      ? db.records(SQL.rawTree, RAW_TREE_NAMES, tenant, number, afterSequence, limit)
      : db.records(SQL.tree, STORED_NAMES, tenant, number, afterSequence, limit);
    const page = toPage(scope, rows, lastSequence, query.payloads, isRaw);
    if (!isRaw) checkTree(sessionId, page.entries, { afterSequence, limit, lastSequence });
    const isFirst = isRaw && afterSequence === 0;
    return isFirst
      ? { ...page, rootHash, chains: readAllChains(db, tenant, number) }
      : { ...page, rootHash };
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
  const total = end?.ordinal ?? 0;
  const { limit } = query;
  if (query.select === "messages") {
    const { offset } = query;
    const page = toPage(scope, readMessages(scope, ranges, offset, limit), total, query.payloads);
    checkMessages(sessionId, page.entries, offset + 1, Math.min(offset + limit, total));
    return page;
  }
  if (query.select === "path") {
    const after = query.after === undefined ? undefined : pathPoint(scope, ranges, query.after);
    const page = toPage(scope, readPath(scope, ranges, after, limit), total, query.payloads);
    checkPath(sessionId, page.entries, { end, after, limit });
    return page;
  }
  const { before, include } = query;
  const stop = before === undefined ? undefined : pathPoint(scope, ranges, before);
  const rows = readHistory(scope, ranges, stop, include, limit);
  const page = toPage(scope, rows, total, query.payloads);
  checkHistory(sessionId, page.entries, { end, stop, include, limit });
  const marks = db.get(SQL.marks, tenant, number, tenant, number);
  return { ...page, marks: { summary: marks?.["summary"] === 1, pinned: marks?.["pinned"] === 1 } };
}

export function findEntries(
  db: SqliteConnection,
  name: string,
  ids: readonly string[],
  payloads: boolean,
  isRaw = false,
): EntryPage {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { entries: [], payloads: new Map(), total: 0 };
  const rows = ids.map((id) => db.get(SQL.findById, tenant, id)).filter((row) => row !== undefined);
  const entries = rows.map((row) =>
    wholeEntry(db, tenant, Number(row["session"]), String(row["session_id"]), row),
  );
  const parentHash = ({ parentId }: EntryRecord, row: Row) => {
    const root = storedBytesOrNull(row["root_hash"], "the session's row") ?? ZERO_HASH;
    return parentId === null ? toHex(root) : findHash(db, tenant, parentId);
  };
  if (!isRaw) checkEntries(rows, entries, parentHash);
  return { entries, payloads: payloadsOf(db, tenant, entries, payloads), total: entries.length };
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
  const { number, state } = readState(db, tenant, sessionId);
  if (tenant === undefined) return [];
  const rows = db.records(SQL.leaves, STORED_NAMES, tenant, number, limit);
  const scope: Scope = { db, tenant, session: number, sessionId, rootHash: state.rootHash };
  return checkedEntries(scope, rows);
}

interface Scope {
  readonly db: SqliteConnection;
  readonly tenant: number;
  readonly session: number;
  readonly sessionId: string;
  /** The hash that the session's roots continue. */
  readonly rootHash: Uint8Array;
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
  stop: Point | undefined,
  include: HistoryKinds,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
  const newest: SqlRow[] = [];
  for (const range of ranges.toReversed()) {
    if (newest.length >= limit) break;
    const maxDepth = Math.min(range.maxDepth, (stop?.depth ?? Number.POSITIVE_INFINITY) - 1);
    // Both bounds, though the depth would suffice: the index is ordered by ordinals.
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
  last: Point | undefined,
  limit: number,
): SqlRow[] {
  const { db, tenant, session } = scope;
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

/** An entry that must be on the path of `ranges`. */
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
  isRaw = false,
): EntryPage {
  const { db, tenant } = scope;
  const entries = isRaw ? storedEntries(scope, rows) : checkedEntries(scope, rows);
  return { entries, payloads: payloadsOf(db, tenant, entries, payloads), total };
}

/** Entries as stored, unchecked. */
function storedEntries(scope: Scope, rows: readonly SqlRow[]): EntryRecord[] {
  const { db, tenant, session, sessionId } = scope;
  return rows.map((row) => wholeEntry(db, tenant, session, sessionId, row));
}

function wholeEntry(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sessionId: string,
  row: SqlRow,
): EntryRecord {
  try {
    return toEntry(unfold(db, tenant, session, row), sessionId);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw entryDamaged(String(row["id"]), sessionId, "its pack cannot be read", error);
  }
}

function checkedEntries(scope: Scope, rows: readonly SqlRow[]): EntryRecord[] {
  const { db, tenant, rootHash } = scope;
  const entries = storedEntries(scope, rows);
  checkEntries(
    rows,
    entries,
    parentsIn(entries, rootHash, (id) => findHash(db, tenant, id)),
  );
  return entries;
}

/** An entry's hash in hex. */
function findHash(db: SqliteConnection, tenant: number, id: string): string | undefined {
  return db.get(SQL.parentHash, tenant, id)?.["hash"] as string | undefined;
}

function payloadsOf(
  db: SqliteConnection,
  tenant: number,
  entries: readonly EntryRecord[],
  areWanted: boolean,
): Map<string, Uint8Array> {
  if (!areWanted) return new Map();
  try {
    return readPayloads(
      db,
      tenant,
      entries.map(({ content }) => content),
    );
  } catch (error) {
    throw namingHolder(error, entries);
  }
}
