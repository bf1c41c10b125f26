/**
 * Reads the messages around hits: all windows in one round trip where the sessions never branched,
 * else in at most three.
 */

import type { Window, WindowEntry, WindowHead, WindowRequest } from "../../../search/port.ts";
import type { PathEnd } from "../../../transcript/path.ts";
import type { Chain } from "../../../transcript/place.ts";
import { textOrNull } from "../../damage/stored-json.ts";
import {
  entryEnd,
  FIRST_CHAIN,
  type Leaf,
  pathThrough,
  toWindowEntry,
  toWindowHead,
  WINDOW_ENTRY_NAMES,
  type WindowEntryValues,
  type WindowRange,
  windowEntryColumns,
  windowRanges,
  windowSessionColumns,
} from "../../index/window.ts";
import type { Row } from "../../records.ts";
import { toChain } from "../../rows/state-row.ts";
import { readSoundPayloads } from "../operations/blobs.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const WANTED = `unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY
  AS wanted (session, sequence, rank)`;

/** Columns of the session, and the place of the matched entry, if it exists. */
const SESSION_COLUMNS = windowSessionColumns({
  positionOf: (text, column) => `position(${text}::bytea IN ${column})`,
  listOf: (values, order) => `json_agg(json_build_array(${values}) ORDER BY ${order})::text`,
  hexOf: (column) => `encode(${column}, 'hex')`,
});
const COLUMNS = `${SESSION_COLUMNS},
  e.chain, e.depth, e.ordinal`;

const SQL = statements("windows", {
  heads: `SELECT wanted.rank, ${COLUMNS} FROM ${WANTED}
    JOIN sessions s ON s.tenant = $1 AND s.session = wanted.session
    JOIN session_state t ON t.tenant = $1 AND t.session = wanted.session
    LEFT JOIN entries e ON e.tenant = $1 AND e.session = wanted.session
      AND e.sequence = wanted.sequence AND e.kind = 'message' AND e.status = 'committed'`,
  /** The chains of the leaves and of the entries, to the root. */
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
  /** The last node of each entry's chain. */
  tips: `SELECT wanted.rank, tip.id, tip.chain, tip.depth, tip.ordinal FROM ${WANTED}
    JOIN entries e ON e.tenant = $1 AND e.session = wanted.session
      AND e.sequence = wanted.sequence
    CROSS JOIN LATERAL (SELECT d.id, d.chain, d.depth, d.ordinal FROM entries d
      WHERE d.tenant = $1 AND d.session = e.session AND d.chain = e.chain
        AND d.status = 'committed'
        AND d.kind IN ('message', 'compaction', 'branch_summary', 'custom_message')
      ORDER BY d.ordinal DESC, d.depth DESC LIMIT 1) tip`,
  /** The depth is in no condition of the index: see `UNINDEXED_DEPTH`. */
  messages: `SELECT shown.rank, ${windowEntryColumns((column) => column)}
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS shown (rank, session, chain, low, high, max_depth)
    JOIN entries m ON m.tenant = $1 AND m.session = shown.session AND m.chain = shown.chain
      AND m.ordinal BETWEEN shown.low AND shown.high AND m.depth + 0 <= shown.max_depth
    WHERE m.kind = 'message' AND m.status = 'committed' ORDER BY shown.rank, m.ordinal`,
});

export async function readWindows(
  tx: Transaction,
  requests: readonly WindowRequest[],
): Promise<(Window | undefined)[]> {
  const plans = requests.map(plainPlan);
  const others = requests.filter((_, i) => plans[i]?.ranges.length === 0);
  const strangers = requests.filter(
    (request) => request.head === undefined && !others.includes(request),
  );
  const [rows = [], headRows = [], ...places] = await tx.together([
    messagesQuery(tx, requests, plans),
    headsQuery(tx, strangers),
    ...placeQueries(tx, others),
  ]);
  const heads = byRank(headRows);
  const known = new Map(strangers.map((request, i) => [request, maybeHead(heads.get(i + 1)?.[0])]));
  const found = await toPlain(tx, requests, known, byRank(rows));
  const missed = requests.filter((request) => !found.has(request) && !others.includes(request));
  const placed = planWindows(others, places);
  const [otherRows = [], ...missedPlaces] = await tx.together([
    messagesQuery(tx, others, placed.plans),
    ...placeQueries(tx, missed),
  ]);
  const add = (read: readonly WindowRequest[], windows: readonly (Window | undefined)[]) => {
    for (const [i, request] of read.entries()) found.set(request, windows[i]);
  };
  add(others, await toPlaced(tx, others, placed, byRank(otherRows)));
  const late = planWindows(missed, missedPlaces);
  const [lateRows = []] = await tx.together([messagesQuery(tx, missed, late.plans)]);
  add(missed, await toPlaced(tx, missed, late, byRank(lateRows)));
  return requests.map((request) => found.get(request));
}

/**
 * Optimistic: assumes of an unknown session that it has messages only, so that ordinals equal
 * sequences. The plan has no ranges for a session that is known to have other entries.
 */
function plainPlan({ head, sequence, before, after }: WindowRequest): WindowPlan {
  if (sequence === 0 || !(head === undefined || isPlain(head))) return { leaf: null, ranges: [] };
  const maxDepth = head?.active?.depth ?? Number.MAX_SAFE_INTEGER;
  const range = { chain: FIRST_CHAIN, from: sequence - before, to: sequence + after, maxDepth };
  return { leaf: head?.active?.id ?? null, ranges: [range] };
}

function isPlain({ active }: WindowHead): boolean {
  return active?.chain === FIRST_CHAIN && active.depth === active.ordinal;
}

/**
 * The windows of hits found at their assumed place, and of deleted sessions. `known` has the heads
 * of formerly unknown sessions.
 */
async function toPlain(
  tx: Transaction,
  requests: readonly WindowRequest[],
  known: ReadonlyMap<WindowRequest, WindowHead | undefined>,
  messages: ReadonlyMap<number, readonly Row[]>,
): Promise<Map<WindowRequest, Window | undefined>> {
  const isRight = (row: Row, { sequence }: WindowRequest) =>
    Number(row["sequence"]) === sequence && Number(row["ordinal"]) === sequence;
  const right = requests.flatMap((request, i) => {
    const head = request.head ?? known.get(request);
    if (head === undefined || !isPlain(head)) return [];
    // Entries off the active path come after its end.
    const rows = (messages.get(i + 1) ?? []).filter(
      (row) => Number(row["ordinal"]) <= (head.active?.ordinal ?? 0),
    );
    const match = rows.find((row) => isRight(row, request));
    return match === undefined ? [] : [{ request, head, rows, match }];
  });
  const contents = right.map(({ match }) => textOrNull(match["content"]));
  const payloads = await readSoundPayloads(tx, contents);
  const gone = [...known].flatMap(([request, head]) => (head === undefined ? [request] : []));
  return new Map<WindowRequest, Window | undefined>([
    ...gone.map((request): [WindowRequest, undefined] => [request, undefined]),
    ...right.map(({ request, head, rows }): [WindowRequest, Window] => [
      request,
      { head, leaf: head.active?.id ?? null, entries: toEntries(rows, payloads) },
    ]),
  ]);
}

/** Undefined if there is nothing to query. */
function headsQuery(tx: Transaction, requests: readonly WindowRequest[]): Query | undefined {
  return placeQueries(tx, requests)[0];
}

function maybeHead(row: Row | undefined): WindowHead | undefined {
  return row === undefined ? undefined : toWindowHead(row);
}

/** Queries that locate the sessions and the hits; empty if there is nothing to query. */
function placeQueries(tx: Transaction, requests: readonly WindowRequest[]): Query[] {
  if (requests.length === 0) return [];
  const sessions = requests.map(({ session }) => session);
  const sequences = requests.map(({ sequence }) => sequence);
  return [SQL.heads, SQL.chains, SQL.tips].map((sql) => query(sql, tx.tenant, sessions, sequences));
}

interface PlacedPlans {
  readonly plans: readonly WindowPlan[];
  readonly heads: ReadonlyMap<number, readonly Row[]>;
}

/** `places` are the answers to `placeQueries`. */
function planWindows(
  requests: readonly WindowRequest[],
  places: readonly (readonly Row[])[],
): PlacedPlans {
  const [headRows = [], chainRows = [], tipRows = []] = places;
  const heads = byRank(headRows);
  const tips = byRank(tipRows);
  const chains = Map.groupBy(chainRows, (row) => Number(row["session"]));
  const plans = requests.map((request, i) => {
    const head = heads.get(i + 1)?.[0];
    const tip = tips.get(i + 1)?.[0];
    return planWindow(request, head, tip, toChains(chains.get(request.session)));
  });
  return { plans, heads };
}

async function toPlaced(
  tx: Transaction,
  requests: readonly WindowRequest[],
  { plans, heads }: PlacedPlans,
  messages: ReadonlyMap<number, readonly Row[]>,
): Promise<(Window | undefined)[]> {
  // Only matches need their whole text; neighbours show their heads.
  const matched = requests.map(({ sequence }, i) =>
    messages.get(i + 1)?.find((row) => row["sequence"] === sequence),
  );
  const payloads = await readSoundPayloads(
    tx,
    matched.map((row) => textOrNull(row?.["content"])),
  );
  return plans.map(({ leaf }, i) => {
    const head = maybeHead(heads.get(i + 1)?.[0]);
    return head && { head, leaf, entries: toEntries(messages.get(i + 1) ?? [], payloads) };
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

/** Undefined if there is nothing to query. */
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
