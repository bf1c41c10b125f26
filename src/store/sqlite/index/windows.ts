/** The messages round hits, each by a few index ranges. */

import type { Window, WindowRequest } from "../../../search/port.ts";
import type { PathEnd, PathRange } from "../../../transcript/path.ts";
import type { Chain } from "../../../transcript/place.ts";
import {
  activeLeaf,
  entryEnd,
  type Leaf,
  pathThrough,
  toWindow,
  WINDOW_COLUMNS,
  WINDOW_ENTRY_COLUMNS,
  WINDOW_ENTRY_NAMES,
  windowRanges,
} from "../../index/window.ts";
import { toChain } from "../../rows/state-row.ts";
import { textOrNull } from "../../rows/text.ts";
import { readPayloads } from "../operations/blobs.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("windows", {
  head: `SELECT ${WINDOW_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    LEFT JOIN entries e ON e.tenant = s.tenant AND e.session = s.session AND e.sequence = ?3
      AND e.kind = 'message' AND e.status = 'committed'
    WHERE s.tenant = ?1 AND s.session = ?2`,
  chainsToRoot: `WITH RECURSIVE up (chain, parent_chain, fork_depth, fork_ordinal) AS (
      SELECT chain, parent_chain, fork_depth, fork_ordinal FROM chains
        WHERE tenant = ?1 AND session = ?2 AND chain = ?3
      UNION ALL
      SELECT c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM chains c
        JOIN up ON c.chain = up.parent_chain WHERE c.tenant = ?1 AND c.session = ?2)
    SELECT chain, parent_chain, fork_depth, fork_ordinal FROM up`,
  /** The last entry of a chain that something could be appended to. */
  tip: `SELECT id, chain, depth, ordinal FROM entries
    WHERE tenant = ? AND session = ? AND chain = ? AND status = 'committed'
      AND kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
    ORDER BY ordinal DESC, depth DESC LIMIT 1`,
  messages: `SELECT ${WINDOW_ENTRY_COLUMNS} FROM entries m
    WHERE m.tenant = ? AND m.session = ? AND m.chain = ? AND m.ordinal BETWEEN ? AND ?
      AND m.depth <= ? AND m.kind = 'message' AND m.status = 'committed' ORDER BY m.ordinal`,
});

export function readWindows(
  db: SqliteConnection,
  tenant: number,
  requests: readonly WindowRequest[],
): (Window | undefined)[] {
  return requests.map((request) => readWindow(db, tenant, request));
}

function readWindow(
  db: SqliteConnection,
  tenant: number,
  request: WindowRequest,
): Window | undefined {
  const { session, sequence } = request;
  const head = db.get(SQL.head, tenant, session, sequence);
  if (head === undefined) return undefined;
  const entry = entryEnd(head, request);
  if (entry === undefined) return toWindow(head, activeLeaf(head)?.id ?? null, [], new Map());
  const { leaf, path } = findPath(db, tenant, session, entry, activeLeaf(head));
  const rows = windowRanges(path, entry, request).flatMap(({ chain, from, to, maxDepth }) =>
    db.records(SQL.messages, WINDOW_ENTRY_NAMES, tenant, session, chain, from, to, maxDepth),
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

/** The first chain starts at the root; nothing needs to be known of it. */
function readChains(
  db: SqliteConnection,
  tenant: number,
  session: number,
  chain: number,
): Map<number, Chain> {
  const rows = chain <= 1 ? [] : db.all(SQL.chainsToRoot, tenant, session, chain);
  return new Map(rows.map(toChain).map((each) => [each.chain, each]));
}
