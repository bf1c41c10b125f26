/** Reads entries: pages of a path or of the whole tree. */

import { toHex, ZERO_HASH } from "../../../transcript/hash.ts";
import {
  isOnPath,
  type PathRange,
  pathRanges,
  rangesWithOrdinals,
} from "../../../transcript/path.ts";
import type { Point } from "../../../transcript/place.ts";
import { checkEntries, namingHolder } from "../../damage/check-entries.ts";
import { checkHistory, checkMessages, checkPath, checkTree } from "../../damage/check-page.ts";
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
import { entryNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { readPayloads } from "./blobs.ts";
import { PARENT_HASH, STORED_ENTRY, UNINDEXED_DEPTH } from "./entry-columns.ts";
import {
  allChainsQuery,
  chainsQuery,
  pointsQuery,
  stateQuery,
  toChains,
  toPoints,
  toState,
} from "./session-state.ts";

const CHECKED_COLUMNS = `${STORED_ENTRY}, ${PARENT_HASH}`;

const SQL = statements("read_entries", {
  messages: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.chain = $3 AND e.ordinal BETWEEN $4 AND $5
      AND ${UNINDEXED_DEPTH} <= $6 AND e.kind = 'message' AND e.status = 'committed'
    ORDER BY e.ordinal LIMIT $7`,
  /** Backwards: newest first. */
  history: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.chain = $3 AND e.ordinal <= $4 AND ${UNINDEXED_DEPTH} <= $5
      AND e.status = 'committed' AND e.kind IN ($6, $7, $8, $9)
    ORDER BY e.ordinal DESC, e.depth DESC LIMIT $10`,
  path: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.chain = $3 AND e.ordinal <= $4 AND ${UNINDEXED_DEPTH} <= $5
      AND (e.ordinal, e.depth, e.sequence) > ($6::bigint, $7::bigint, $8::bigint)
    ORDER BY e.ordinal, e.depth, e.sequence LIMIT $9`,
  tree: `SELECT ${CHECKED_COLUMNS}, e.nonce FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.sequence > $3 ORDER BY e.sequence LIMIT $4`,
  findById: `SELECT ${CHECKED_COLUMNS}, e.nonce, s.id AS session_id, s.root_hash FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = $1 AND e.id = ANY ($2) AND ${IS_THERE}`,
  usage: `SELECT ${USAGE_COLUMNS} FROM entries e
    JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
    WHERE e.tenant = $1 AND e.id = ANY ($2) AND ${IS_THERE}`,
  /** The end of a chain has no child on the chain. */
  leaves: `SELECT ${CHECKED_COLUMNS} FROM sessions s
    JOIN chains c ON c.tenant = s.tenant AND c.session = s.session
    CROSS JOIN LATERAL (SELECT d.* FROM entries d WHERE d.tenant = c.tenant
      AND d.session = c.session AND d.chain = c.chain AND d.status = 'committed'
      AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
      ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1) e
    WHERE s.tenant = $1 AND s.id = $2 AND ${IS_THERE} AND e.tenant = s.tenant ORDER BY c.chain DESC LIMIT $3`,
  label: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.kind = 'label'
    ORDER BY e.sequence DESC LIMIT $3`,
  pinned: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.pinned = 1
    ORDER BY e.sequence DESC LIMIT $3`,
  superseded: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.superseded_by IS NOT NULL
    ORDER BY e.sequence DESC LIMIT $3`,
  summary: `SELECT ${CHECKED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.session = $2 AND e.kind IN ('compaction', 'summary')
    ORDER BY e.sequence DESC LIMIT $3`,
  marks: `SELECT (EXISTS (SELECT 1 FROM entries e WHERE e.tenant = $1 AND e.session = s.session
      AND e.kind IN ('compaction', 'summary')))::int AS summary,
    (EXISTS (SELECT 1 FROM entries e WHERE e.tenant = $1 AND e.session = s.session
      AND e.pinned = 1))::int AS pinned
    FROM sessions s WHERE s.tenant = $1 AND s.id = $2`,
});

export async function readEntries(tx: Transaction, wanted: EntryQuery): Promise<EntryPage> {
  const { sessionId } = wanted;
  const leaf = wanted.select === "tree" ? undefined : (wanted.leaf ?? undefined);
  const anywhere =
    wanted.select === "tree" || (wanted.select === "marked" && wanted.leaf === undefined);
  const named = [leaf, boundOf(wanted)].filter((id) => id !== undefined);
  const [stateRows, pointRows, chainRows, markRows] = await tx.together([
    stateQuery(tx, sessionId),
    pointsQuery(tx, sessionId, named),
    anywhere ? undefined : chainsQuery(tx, sessionId, leaf),
    wanted.select === "history" ? query(SQL.marks, tx.tenant, sessionId) : undefined,
  ]);
  const isRaw = wanted.select === "tree" && wanted.isRaw === true;
  const { number, state } = toState(stateRows, sessionId, isRaw);
  const session: Scope = { sessionId, rootHash: state.rootHash };
  if (wanted.select === "tree") {
    const { limit, after } = wanted;
    const { lastSequence, rootHash } = state;
    const point = after === undefined ? undefined : toPoints(pointRows).get(after);
    if (after !== undefined && point === undefined) throw entryNotFound(after, sessionId);
    const afterSequence = point?.sequence ?? wanted.afterSequence;
    const [rows = [], chains = []] = await tx.together([
      query(SQL.tree, tx.tenant, number, afterSequence, limit),
      isRaw && afterSequence === 0 ? allChainsQuery(tx, number) : undefined,
    ]);
    const page = await toPage(tx, rows, session, lastSequence, wanted.payloads, isRaw);
    if (!isRaw) checkTree(sessionId, page.entries, { afterSequence, limit, lastSequence });
    if (!isRaw || afterSequence > 0) return { ...page, rootHash };
    return { ...page, rootHash, chains: [...toChains(chains).values()] };
  }
  if (wanted.select === "marked" && wanted.leaf === undefined) {
    const rows = await tx.all(SQL[wanted.mark], tx.tenant, number, wanted.limit);
    return toPage(tx, rows.toReversed(), session, rows.length, wanted.payloads);
  }

  const points = toPoints(pointRows);
  const end = leaf === undefined ? state.leaf : points.get(leaf);
  if (end === undefined) throw entryNotFound(leaf ?? "", sessionId);
  const ranges = pathRanges(end, toChains(chainRows));
  if (wanted.select === "marked") {
    const all = await tx.all(SQL[wanted.mark], tx.tenant, number, null);
    const rows = all.filter((row) => isOnPath(toPathEnd(row), ranges)).slice(0, wanted.limit);
    return toPage(tx, rows.toReversed(), session, rows.length, wanted.payloads);
  }
  const bound = pathPoint(boundOf(wanted), points, ranges, sessionId);
  const rows = await readRanges(tx, number, wanted, ranges, bound);
  const page = await toPage(tx, rows, session, end?.ordinal ?? 0, wanted.payloads);
  checkRange(page, wanted, end, bound);
  const [marks] = markRows ?? [];
  if (marks === undefined) return page;
  return {
    ...page,
    marks: { summary: marks["summary"] === 1, pinned: marks["pinned"] === 1 },
  };
}

export async function findEntries(
  tx: Transaction,
  ids: readonly string[],
  payloads: boolean,
  isRaw = false,
): Promise<EntryPage> {
  const rows = await tx.all(SQL.findById, tx.tenant, ids);
  const all = rows.map((row) => toEntry(row, String(row["session_id"])));
  const rootOf = (row: Row) =>
    storedBytesOrNull(row["root_hash"], "the session's row") ?? ZERO_HASH;
  if (!isRaw) checkEntries(rows, all, (entry, row) => parentHash(entry, row, rootOf(row)));
  const found = new Map(all.map((entry) => [entry.id, entry]));
  const entries = ids.flatMap((id) => found.get(id) ?? []);
  const read = payloads ? await payloadsOf(tx, entries) : new Map<string, Uint8Array>();
  return { entries, payloads: read, total: entries.length };
}

export async function findUsage(tx: Transaction, ids: readonly string[]): Promise<EntryUsage[]> {
  return (await tx.all(SQL.usage, tx.tenant, ids)).map(toEntryUsage);
}

export async function listLeaves(
  tx: Transaction,
  sessionId: string,
  limit: number,
): Promise<EntryRecord[]> {
  const [states, rows = []] = await tx.together([
    stateQuery(tx, sessionId),
    query(SQL.leaves, tx.tenant, sessionId, limit),
  ]);
  const { state } = toState(states, sessionId);
  return checkedEntries(rows, { sessionId, rootHash: state.rootHash });
}

/** The entry that bounds a page. */
function boundOf(wanted: EntryQuery): string | undefined {
  if (wanted.select === "history") return wanted.before;
  return wanted.select === "path" || wanted.select === "tree" ? wanted.after : undefined;
}

/** An entry that must be on the path of `ranges`. */
function pathPoint(
  id: string | undefined,
  points: ReadonlyMap<string, Point>,
  ranges: readonly PathRange[],
  sessionId: string,
): Point | undefined {
  if (id === undefined) return undefined;
  const point = points.get(id);
  if (point === undefined || !isOnPath(point, ranges)) throw entryNotFound(id, sessionId);
  return point;
}

function readRanges(
  tx: Transaction,
  session: number,
  wanted: Exclude<EntryQuery, { select: "tree" | "marked" }>,
  ranges: readonly PathRange[],
  bound: Point | undefined,
): Promise<Row[]> {
  switch (wanted.select) {
    case "messages":
      return readMessages(tx, session, ranges, wanted.offset, wanted.limit);
    case "history":
      return readHistory(tx, session, ranges, bound, wanted.include, wanted.limit);
    case "path":
      return readPath(tx, session, ranges, bound, wanted.limit);
  }
}

async function readMessages(
  tx: Transaction,
  session: number,
  ranges: readonly PathRange[],
  offset: number,
  limit: number,
): Promise<Row[]> {
  const from = offset + 1;
  const to = offset + limit;
  const pages = await tx.together(
    rangesWithOrdinals(ranges, from, to).map((range) =>
      query(
        SQL.messages,
        tx.tenant,
        session,
        range.chain,
        Math.max(from, range.afterOrdinal + 1),
        Math.min(to, range.maxOrdinal),
        range.maxDepth,
        limit,
      ),
    ),
  );
  return pages.flat();
}

async function readHistory(
  tx: Transaction,
  session: number,
  ranges: readonly PathRange[],
  stop: Point | undefined,
  include: HistoryKinds,
  limit: number,
): Promise<Row[]> {
  const pages = await tx.together(
    newestRanges(ranges, stop, limit).map((range) =>
      query(
        SQL.history,
        tx.tenant,
        session,
        range.chain,
        // Both bounds, though the depth would suffice: the index is ordered by ordinals.
        Math.min(range.maxOrdinal, stop?.ordinal ?? range.maxOrdinal),
        Math.min(range.maxDepth, (stop?.depth ?? range.maxDepth + 1) - 1),
        ...HISTORY_KINDS[include],
        limit,
      ),
    ),
  );
  return pages.flat().slice(0, limit).reverse();
}

/** The newest ranges with `limit` messages before `stop`, or all, newest first. */
function newestRanges(
  ranges: readonly PathRange[],
  stop: Point | undefined,
  limit: number,
): PathRange[] {
  const chosen: PathRange[] = [];
  let messages = 0;
  for (const range of ranges.toReversed()) {
    if (messages >= limit) break;
    const last = Math.min(range.maxOrdinal, (stop?.ordinal ?? Number.POSITIVE_INFINITY) - 1);
    messages += Math.max(0, last - range.afterOrdinal);
    chosen.push(range);
  }
  return chosen;
}

async function readPath(
  tx: Transaction,
  session: number,
  ranges: readonly PathRange[],
  last: Point | undefined,
  limit: number,
): Promise<Row[]> {
  const pages = await tx.together(
    nextRanges(ranges, last, limit).map((range) => {
      const from = range.chain === last?.chain ? last : { ordinal: -1, depth: -1, sequence: -1 };
      return query(
        SQL.path,
        tx.tenant,
        session,
        range.chain,
        range.maxOrdinal,
        range.maxDepth,
        from.ordinal,
        from.depth,
        from.sequence,
        limit,
      );
    }),
  );
  return pages.flat().slice(0, limit);
}

/** The ranges from that of `last` on with `limit` entries after it, or all. */
function nextRanges(
  ranges: readonly PathRange[],
  last: Point | undefined,
  limit: number,
): PathRange[] {
  const chosen: PathRange[] = [];
  let depth = last?.depth ?? 0;
  for (const range of ranges.slice(ranges.findIndex(({ chain }) => chain === (last?.chain ?? 0)))) {
    if (depth - (last?.depth ?? 0) >= limit) break;
    depth = range.maxDepth;
    chosen.push(range);
  }
  return chosen;
}

/** Throws `store_corrupt` unless a page of a path is complete. */
function checkRange(
  { entries, total }: EntryPage,
  wanted: Exclude<EntryQuery, { select: "tree" | "marked" }>,
  end: Point | null,
  bound: Point | undefined,
): void {
  const { sessionId, limit } = wanted;
  switch (wanted.select) {
    case "messages": {
      const { offset } = wanted;
      checkMessages(sessionId, entries, offset + 1, Math.min(offset + limit, total));
      break;
    }
    case "history":
      checkHistory(sessionId, entries, { end, stop: bound, include: wanted.include, limit });
      break;
    case "path":
      checkPath(sessionId, entries, { end, after: bound, limit });
  }
}

/** A page's session. */
interface Scope {
  readonly sessionId: string;
  /** The hash that the session's roots continue. */
  readonly rootHash: Uint8Array;
}

async function toPage(
  tx: Transaction,
  rows: readonly Row[],
  session: Scope,
  total: number,
  payloads: boolean,
  isRaw = false,
): Promise<EntryPage> {
  const entries = isRaw
    ? rows.map((row) => toEntry(row, session.sessionId))
    : checkedEntries(rows, session);
  const read = payloads ? await payloadsOf(tx, entries) : new Map<string, Uint8Array>();
  return { entries, payloads: read, total };
}

function checkedEntries(rows: readonly Row[], { sessionId, rootHash }: Scope): EntryRecord[] {
  const entries = rows.map((row) => toEntry(row, sessionId));
  checkEntries(rows, entries, (entry, row) => parentHash(entry, row, rootHash));
  return entries;
}

function parentHash({ parentId }: EntryRecord, row: Row, root: Uint8Array): string | undefined {
  return parentId === null
    ? toHex(root)
    : ((row["parent_hash"] ?? undefined) as string | undefined);
}

async function payloadsOf(
  tx: Transaction,
  entries: readonly EntryRecord[],
): Promise<Map<string, Uint8Array>> {
  try {
    return await readPayloads(
      tx,
      entries.map(({ content }) => content),
    );
  } catch (error) {
    throw namingHolder(error, entries);
  }
}
