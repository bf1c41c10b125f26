/**
 * Reads the messages around hits.
 *
 * Most sessions have no branch, and their window is one statement from the hit to its neighbours.
 * Others take a few index ranges.
 */

import type { Window, WindowHead, WindowRequest } from "../../../search/port.ts";
import type { PathEnd, PathRange } from "../../../transcript/path.ts";
import { textOrNull } from "../../damage/stored-json.ts";
import {
  entryEnd,
  FIRST_CHAIN,
  type Leaf,
  pathThrough,
  toWindowEntry,
  toWindowHead,
  WINDOW_SESSION_NAMES,
  windowEntryColumns,
  windowRanges,
  windowSessionColumns,
} from "../../index/window.ts";
import { readSoundPayloads } from "../operations/blobs.ts";
import { readChains } from "../operations/chains.ts";
import { asText } from "../operations/entry-columns.ts";
import { shownContent } from "../packs/read-pack.ts";
import type { SqliteConnection, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

/** The row's part of the content, and the place of the rest. */
const COLUMNS = `${windowEntryColumns(asText)}, m.pack`;
const IS_SHOWN = "m.kind = 'message' AND m.status = 'committed'";

const SESSION_COLUMNS = windowSessionColumns({
  positionOf: (text, column) => `instr(${column}, ${text})`,
  listOf: (values, order) =>
    `CASE WHEN count(*) > 0 THEN json_group_array(json_array(${values}) ORDER BY ${order}) END`,
  hexOf: (column) => `hex(${column})`,
});

const SQL = statements("windows", {
  sessions: `SELECT ${SESSION_COLUMNS}, s.session FROM json_each(?) wanted
    CROSS JOIN sessions s ON s.tenant = ? AND s.session = wanted.value
    CROSS JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session`,
  place: `SELECT m.chain, m.depth, m.ordinal FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.sequence = ? AND ${IS_SHOWN}`,
  /** The last node of a chain. */
  tip: `SELECT id, chain, depth, ordinal FROM entries
    WHERE tenant = ? AND session = ? AND chain = ? AND status = 'committed'
      AND kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
    ORDER BY ordinal DESC, depth DESC LIMIT 1`,
  /** A hit in a chain and its neighbours there, up to a depth. */
  around: `SELECT ${COLUMNS} FROM entries e CROSS JOIN entries m
    ON m.tenant = e.tenant AND m.session = e.session AND m.chain = e.chain
      AND m.ordinal BETWEEN e.ordinal - ? AND e.ordinal + ? AND m.depth <= ? AND ${IS_SHOWN}
    WHERE e.tenant = ? AND e.session = ? AND e.sequence = ? AND e.chain = ?
    ORDER BY m.ordinal`,
  messages: `SELECT ${COLUMNS} FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.chain = ? AND m.ordinal BETWEEN ? AND ?
      AND m.depth <= ? AND ${IS_SHOWN} ORDER BY m.ordinal`,
  message: `SELECT ${COLUMNS} FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.sequence = ? AND ${IS_SHOWN}
      AND m.chain = ? AND m.depth <= ?`,
});

export function readWindows(
  db: SqliteConnection,
  tenant: number,
  requests: readonly WindowRequest[],
): (Window | undefined)[] {
  const heads = readHeads(db, tenant, requests);
  return requests.map((request) => {
    const head = request.head ?? heads.get(request.session);
    return head && (readPlain(db, tenant, request, head) ?? readAny(db, tenant, request, head));
  });
}

/** Heads of the sessions that the request lacks; deleted sessions are absent. */
function readHeads(
  db: SqliteConnection,
  tenant: number,
  requests: readonly WindowRequest[],
): Map<number, WindowHead> {
  const heads = new Map<number, WindowHead>();
  const unknown = new Set<number>();
  for (const { session, head } of requests) if (head === undefined) unknown.add(session);
  if (unknown.size === 0) return heads;
  const wanted = JSON.stringify([...unknown]);
  for (const row of db.records(SQL.sessions, WINDOW_SESSION_NAMES, wanted, tenant)) {
    heads.set(Number(row["session"]), toWindowHead(row));
  }
  return heads;
}

/** Undefined if the hit is not in the first chain, or the path continues in another. */
function readPlain(
  db: SqliteConnection,
  tenant: number,
  { session, sequence, before, after }: WindowRequest,
  head: WindowHead,
): Window | undefined {
  const { active } = head;
  if (sequence === 0 || active?.chain !== FIRST_CHAIN) return undefined;
  const { chain, depth, ordinal, id } = active;
  const has = (rows: readonly SqlValue[][]) => rows.some((row) => row[1] === sequence);
  const found = (rows: readonly SqlValue[][]) =>
    toWindow(db, tenant, { session, sequence }, head, id, rows);
  if (before + after === 0) {
    const rows = db.lists(SQL.message, tenant, session, sequence, chain, depth);
    return has(rows) ? found(rows) : undefined;
  }
  // In a session of messages alone, ordinals equal sequences.
  if (depth === ordinal) {
    const [from, to] = [sequence - before, sequence + after];
    const rows = db.lists(SQL.messages, tenant, session, chain, from, to, depth);
    if (rows.some((row) => row[1] === sequence && row[2] === sequence)) return found(rows);
  }
  const rows = db.lists(SQL.around, before, after, depth, tenant, session, sequence, chain);
  return has(rows) ? found(rows) : undefined;
}

function readAny(
  db: SqliteConnection,
  tenant: number,
  request: WindowRequest,
  head: WindowHead,
): Window {
  const { session, sequence } = request;
  const row = sequence === 0 ? {} : db.get(SQL.place, tenant, session, sequence);
  const entry = row && entryEnd(row, request);
  if (entry === undefined) return { head, leaf: head.active?.id ?? null, entries: [] };
  const { leaf, path } = findPath(db, tenant, session, entry, head.active);
  const rows = windowRanges(path, entry, request).flatMap(({ chain, from, to, maxDepth }) =>
    db.lists(SQL.messages, tenant, session, chain, from, to, maxDepth),
  );
  return toWindow(db, tenant, request, head, leaf, rows);
}

function toWindow(
  db: SqliteConnection,
  tenant: number,
  { session, sequence }: Pick<WindowRequest, "session" | "sequence">,
  head: WindowHead,
  leaf: string | null,
  rows: readonly SqlValue[][],
): Window {
  for (const row of rows) {
    if (row[8] !== null) row[7] = shownContent(db, tenant, session, row[1], row[8], row[7]);
  }
  // Only the match needs its whole text; neighbours show their heads.
  const matched = rows.find((row) => row[1] === sequence);
  const payloads = readSoundPayloads(db, tenant, [textOrNull(matched?.[7])]);
  return { head, leaf, entries: rows.map((row) => toWindowEntry(row, payloads)) };
}

function findPath(
  db: SqliteConnection,
  tenant: number,
  session: number,
  entry: PathEnd,
  active: Leaf | null,
): { readonly leaf: string | null; readonly path: readonly PathRange[] } {
  const chainsOf = (leaf: Leaf | null) => readChains(db, tenant, session, leaf?.chain ?? 0);
  const path = pathThrough(entry, active, chainsOf(active));
  if (active !== null && path !== undefined) return { leaf: active.id, path };
  if (entry.chain === 0) return { leaf: null, path: [] };
  const row = db.get(SQL.tip, tenant, session, entry.chain);
  const tip: Leaf = {
    id: String(row?.["id"]),
    chain: entry.chain,
    depth: Number(row?.["depth"]),
    ordinal: Number(row?.["ordinal"]),
  };
  return { leaf: tip.id, path: pathThrough(entry, tip, chainsOf(tip)) ?? [] };
}
