/**
 * The messages round hits: all windows together, in one round trip where the sessions are known and
 * never branched, and three at most.
 */

import type { Window, WindowEntry, WindowHead, WindowRequest } from "../../../search/port.ts";
import type { PathEnd } from "../../../transcript/path.ts";
import type { Chain } from "../../../transcript/place.ts";
import {
  entryEnd,
  FIRST_CHAIN,
  type Leaf,
  pathThrough,
  toWindowEntry,
  toWindowHead,
  WINDOW_COLUMNS,
  WINDOW_ENTRY_NAMES,
  type WindowEntryValues,
  type WindowRange,
  windowEntryColumns,
  windowRanges,
} from "../../index/window.ts";
import type { Row } from "../../records.ts";
import { toChain } from "../../rows/state-row.ts";
import { textOrNull } from "../../rows/text.ts";
import { readSoundPayloads } from "../operations/blobs.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const WANTED = `unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY
  AS wanted (session, sequence, rank)`;

const SQL = statements("windows", {
  heads: `SELECT wanted.rank, ${WINDOW_COLUMNS} FROM ${WANTED}
    JOIN sessions s ON s.tenant = $1 AND s.session = wanted.session
    JOIN session_state t ON t.tenant = $1 AND t.session = wanted.session
    LEFT JOIN entries e ON e.tenant = $1 AND e.session = wanted.session
      AND e.sequence = wanted.sequence AND e.kind = 'message' AND e.status = 'committed'`,
  /** From those of the leaves and of the entries to the root. */
  chains: `WITH RECURSIVE up (session, chain, parent_chain, fork_depth, fork_ordinal) AS (
      SELECT c.session, c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM (
          SELECT t.session, t.leaf_chain AS chain FROM session_state t
            WHERE t.tenant = $1 AND t.session = ANY ($2::bigint[])
          UNION SELECT e.session, e.chain FROM ${WANTED}
            JOIN entries e ON e.tenant = $1 AND e.session = wanted.session
              AND e.sequence = wanted.sequence) ends
        JOIN chains c ON c.tenant = $1 AND c.session = ends.session AND c.chain = ends.chain
      UNION
      SELECT c.session, c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM up
        JOIN chains c ON c.tenant = $1 AND c.session = up.session AND c.chain = up.parent_chain)
    SELECT session, chain, parent_chain, fork_depth, fork_ordinal FROM up`,
  /** The last entry of each entry's chain that something could be appended to. */
  tips: `SELECT wanted.rank, tip.id, tip.chain, tip.depth, tip.ordinal FROM ${WANTED}
    JOIN entries e ON e.tenant = $1 AND e.session = wanted.session
      AND e.sequence = wanted.sequence
    CROSS JOIN LATERAL (SELECT d.id, d.chain, d.depth, d.ordinal FROM entries d
      WHERE d.tenant = $1 AND d.session = e.session AND d.chain = e.chain
        AND d.status = 'committed'
        AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
      ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1) tip`,
  messages: `SELECT shown.rank, ${windowEntryColumns((column) => column)}
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS shown (rank, session, chain, low, high, max_depth)
    JOIN entries m ON m.tenant = $1 AND m.session = shown.session AND m.chain = shown.chain
      AND m.ordinal BETWEEN shown.low AND shown.high AND m.depth <= shown.max_depth
    WHERE m.kind = 'message' AND m.status = 'committed' ORDER BY shown.rank, m.ordinal`,
});

export async function readWindows(
  tx: Transaction,
  requests: readonly WindowRequest[],
): Promise<(Window | undefined)[]> {
  const plans = requests.map(plainPlan);
  const others = requests.filter((_, i) => plans[i]?.ranges.length === 0);
  const [rows = [], ...places] = await tx.together([
    messagesQuery(tx, requests, plans),
    ...placeQueries(tx, others),
  ]);
  const found = await toPlain(tx, requests, plans, byRank(rows));
  const add = (read: readonly WindowRequest[], windows: readonly (Window | undefined)[]) => {
    for (const [i, request] of read.entries()) found.set(request, windows[i]);
  };
  add(others, await readPlaced(tx, others, places));
  const missed = requests.filter((request) => !found.has(request));
  if (missed.length > 0) {
    add(missed, await readPlaced(tx, missed, await tx.together(placeQueries(tx, missed))));
  }
  return requests.map((request) => found.get(request));
}

/** In a session of nothing but messages each has its sequence as its ordinal. No ranges: not known. */
function plainPlan({ head, sequence, before, after }: WindowRequest): WindowPlan {
  const active = head?.active;
  const isPlain = active?.chain === FIRST_CHAIN && active.depth === active.ordinal;
  if (!isPlain || sequence === 0) return { leaf: null, ranges: [] };
  const { chain, depth: maxDepth, id } = active;
  const range = { chain, from: sequence - before, to: sequence + after, maxDepth };
  return { leaf: id, ranges: [range] };
}

/** The windows of those whose hit is where it was looked for. */
async function toPlain(
  tx: Transaction,
  requests: readonly WindowRequest[],
  plans: readonly WindowPlan[],
  messages: ReadonlyMap<number, readonly Row[]>,
): Promise<Map<WindowRequest, Window | undefined>> {
  const isRight = (row: Row, { sequence }: WindowRequest) =>
    Number(row["sequence"]) === sequence && Number(row["ordinal"]) === sequence;
  const right = requests.flatMap((request, i) => {
    const rows = messages.get(i + 1) ?? [];
    const match = rows.find((row) => isRight(row, request));
    return match === undefined ? [] : [{ request, rows, match, leaf: plans[i]?.leaf ?? null }];
  });
  const contents = right.map(({ match }) => textOrNull(match["content"]));
  const payloads = await readSoundPayloads(tx, contents);
  const windows = right.map(({ request, rows, leaf }): [WindowRequest, Window] => [
    request,
    { head: request.head as WindowHead, leaf, entries: toEntries(rows, payloads) },
  ]);
  return new Map(windows);
}

/** Where the sessions and the hits are; empty if there is nothing to ask. */
function placeQueries(tx: Transaction, requests: readonly WindowRequest[]): Query[] {
  if (requests.length === 0) return [];
  const sessions = requests.map(({ session }) => session);
  const sequences = requests.map(({ sequence }) => sequence);
  return [SQL.heads, SQL.chains, SQL.tips].map((sql) => query(sql, tx.tenant, sessions, sequences));
}

/** `places` are the answers to `placeQueries`. */
async function readPlaced(
  tx: Transaction,
  requests: readonly WindowRequest[],
  places: readonly (readonly Row[])[],
): Promise<(Window | undefined)[]> {
  if (requests.length === 0) return [];
  const [headRows = [], chainRows = [], tipRows = []] = places;
  const heads = byRank(headRows);
  const tips = byRank(tipRows);
  const chains = Map.groupBy(chainRows, (row) => Number(row["session"]));
  const plans = requests.map((request, i) => {
    const head = heads.get(i + 1)?.[0];
    const tip = tips.get(i + 1)?.[0];
    return planWindow(request, head, tip, toChains(chains.get(request.session)));
  });
  const [rows = []] = await tx.together([messagesQuery(tx, requests, plans)]);
  const messages = byRank(rows);
  // Only the matches are looked into; of their neighbours the heads are shown.
  const matched = requests.map(({ sequence }, i) =>
    messages.get(i + 1)?.find((row) => row["sequence"] === sequence),
  );
  const payloads = await readSoundPayloads(
    tx,
    matched.map((row) => textOrNull(row?.["content"])),
  );
  return plans.map(({ leaf }, i) => {
    const head = heads.get(i + 1)?.[0];
    if (head === undefined) return undefined;
    const entries = toEntries(messages.get(i + 1) ?? [], payloads);
    return { head: toWindowHead(head), leaf, entries };
  });
}

function toEntries(
  rows: readonly Row[],
  payloads: ReadonlyMap<string, Uint8Array>,
): readonly WindowEntry[] {
  const valuesOf = (row: Row) => WINDOW_ENTRY_NAMES.map((name) => row[name]) as WindowEntryValues;
  return rows.map((row) => toWindowEntry(valuesOf(row), payloads));
}

interface WindowPlan {
  readonly leaf: string | null;
  readonly ranges: readonly WindowRange[];
}

function planWindow(
  request: WindowRequest,
  head: Row | undefined,
  tip: Row | undefined,
  chains: ReadonlyMap<number, Chain>,
): WindowPlan {
  const entry: PathEnd | undefined = head === undefined ? undefined : entryEnd(head, request);
  const active = head === undefined ? null : toWindowHead(head).active;
  if (entry === undefined) return { leaf: active?.id ?? null, ranges: [] };
  for (const leaf of [active, toTip(tip)]) {
    const path = pathThrough(entry, leaf, chains);
    if (leaf === null || leaf === undefined || path === undefined) continue;
    return { leaf: leaf.id, ranges: windowRanges(path, entry, request) };
  }
  return { leaf: active?.id ?? null, ranges: [] };
}

/** Undefined if there is nothing to ask. */
function messagesQuery(
  tx: Transaction,
  requests: readonly WindowRequest[],
  plans: readonly WindowPlan[],
): Query | undefined {
  const ranges = plans.flatMap((plan, i) =>
    plan.ranges.map((range) => ({ ...range, rank: i + 1, session: requests[i]?.session ?? 0 })),
  );
  if (ranges.length === 0) return undefined;
  return query(
    SQL.messages,
    tx.tenant,
    ranges.map(({ rank }) => rank),
    ranges.map(({ session }) => session),
    ranges.map(({ chain }) => chain),
    ranges.map(({ from }) => from),
    ranges.map(({ to }) => to),
    ranges.map(({ maxDepth }) => maxDepth),
  );
}

function byRank(rows: readonly Row[]): Map<number, Row[]> {
  return Map.groupBy(rows, (row) => Number(row["rank"]));
}

function toChains(rows: readonly Row[] = []): Map<number, Chain> {
  return new Map(rows.map(toChain).map((chain) => [chain.chain, chain]));
}

function toTip(row: Row | undefined): Leaf | undefined {
  if (row === undefined) return undefined;
  const [chain = 0, depth = 0, ordinal = 0] = [row["chain"], row["depth"], row["ordinal"]].map(
    Number,
  );
  return { id: String(row["id"]), chain, depth, ordinal };
}
