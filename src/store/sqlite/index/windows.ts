/** The messages round hits, each by a few index ranges. */

import type { Window, WindowRequest } from "../../../search/port.ts";
import type { PathEnd, PathRange } from "../../../transcript/path.ts";
import {
  activeLeaf,
  entryEnd,
  type Leaf,
  pathThrough,
  toWindow,
  WINDOW_COLUMNS,
  WINDOW_ENTRY_NAMES,
  WINDOW_NAMES,
  WINDOW_SESSION_COLUMNS,
  WINDOW_SESSION_NAMES,
  windowEntryColumns,
  windowRanges,
} from "../../index/window.ts";
import { textOrNull } from "../../rows/text.ts";
import { asText } from "../as-text.ts";
import { readPayloads } from "../operations/blobs.ts";
import { readChains } from "../operations/chains.ts";
import { unfoldContent } from "../packs/read-pack.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("windows", {
  head: `SELECT ${WINDOW_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    LEFT JOIN entries e ON e.tenant = s.tenant AND e.session = s.session AND e.sequence = ?
      AND e.kind = 'message' AND e.status = 'committed'
    WHERE s.tenant = ? AND s.session = ?`,
  session: `SELECT ${WINDOW_SESSION_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.session = ?`,
  /** The last entry of a chain that something could be appended to. */
  tip: `SELECT id, chain, depth, ordinal FROM entries
    WHERE tenant = ? AND session = ? AND chain = ? AND status = 'committed'
      AND kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
    ORDER BY ordinal DESC, depth DESC LIMIT 1`,
  messages: `SELECT ${windowEntryColumns(asText)}, m.pack FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.chain = ? AND m.ordinal BETWEEN ? AND ?
      AND m.depth <= ? AND m.kind = 'message' AND m.status = 'committed' ORDER BY m.ordinal`,
  message: `SELECT ${windowEntryColumns(asText)}, m.pack, m.chain, m.depth FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.sequence = ? AND m.kind = 'message'
      AND m.status = 'committed'`,
});

const STORED_NAMES = [...WINDOW_ENTRY_NAMES, "pack"];

export function readWindows(
  db: SqliteConnection,
  tenant: number,
  requests: readonly WindowRequest[],
): (Window | undefined)[] {
  const sessions = new Map<number, SqlRow | undefined>();
  return requests.map((request) => {
    const { session, sequence, before, after } = request;
    if (sequence === 0 || before + after > 0) return readWindow(db, tenant, request);
    if (!sessions.has(session)) {
      const [head] = db.records(SQL.session, WINDOW_SESSION_NAMES, tenant, session);
      sessions.set(session, head);
    }
    return readMatch(db, tenant, request, sessions.get(session));
  });
}

/** A window of nothing but the match. Many of them are often of one session, which is read once. */
function readMatch(
  db: SqliteConnection,
  tenant: number,
  request: WindowRequest,
  head: SqlRow | undefined,
): Window | undefined {
  if (head === undefined) return undefined;
  const active = activeLeaf(head);
  const row = db.get(SQL.message, tenant, request.session, request.sequence);
  const entry = row && entryEnd(row, request);
  if (entry === undefined) return toWindow(head, active?.id ?? null, [], new Map());
  const { leaf } = findPath(db, tenant, request.session, entry, active);
  const rows = row === undefined ? [] : [unfoldContent(db, tenant, request.session, row)];
  const payloads = readPayloads(db, tenant, [textOrNull(row?.["content"])]);
  return toWindow(head, leaf, rows, payloads);
}

function readWindow(
  db: SqliteConnection,
  tenant: number,
  request: WindowRequest,
): Window | undefined {
  const { session, sequence } = request;
  const [head] = db.records(SQL.head, WINDOW_NAMES, sequence, tenant, session);
  if (head === undefined) return undefined;
  const entry = entryEnd(head, request);
  if (entry === undefined) return toWindow(head, activeLeaf(head)?.id ?? null, [], new Map());
  const { leaf, path } = findPath(db, tenant, session, entry, activeLeaf(head));
  const rows = windowRanges(path, entry, request).flatMap(({ chain, from, to, maxDepth }) =>
    db
      .records(SQL.messages, STORED_NAMES, tenant, session, chain, from, to, maxDepth)
      .map((row) => unfoldContent(db, tenant, session, row)),
  );
  // Only the match is looked into; of its neighbours the heads are shown.
  const matched = rows.find((row) => row["sequence"] === sequence);
  const payloads = readPayloads(db, tenant, [textOrNull(matched?.["content"])]);
  return toWindow(head, leaf, rows, payloads);
}

function findPath(
  db: SqliteConnection,
  tenant: number,
  session: number,
  entry: PathEnd,
  active: Leaf | undefined,
): { readonly leaf: string | null; readonly path: readonly PathRange[] } {
  const chainsOf = (leaf: Leaf | undefined) => readChains(db, tenant, session, leaf?.chain ?? 0);
  const path = pathThrough(entry, active, chainsOf(active));
  if (active !== undefined && path !== undefined) return { leaf: active.id, path };
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
