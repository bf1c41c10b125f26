/**
 * Appends entries in two round trips: one reads the state under the session's lock, one writes the
 * plan and commits.
 */

import { isOnPath, pathRanges } from "../../../transcript/path.ts";
import type { Point } from "../../../transcript/place.ts";
import {
  type AppendGuard,
  checkGuard,
  type GuardedEntry,
  guardedIds,
} from "../../plan/append-guard.ts";
import { planDelta } from "../../plan/new-changes.ts";
import {
  type AppendPlan,
  leafValues,
  namedEntries,
  placedEntry,
  planAppend,
  type SessionState,
} from "../../plan/plan-append.ts";
import { endBefore, planReplacement, type ReplacedEntry } from "../../plan/plan-suffix.ts";
import type { AppendRequest, AppendResult, Row } from "../../records.ts";
import { ENTRY_COLUMNS, type EntryRow, toPlacedEntry } from "../../rows/entry-row.ts";
import { toPathEnd } from "../../rows/state-row.ts";
import { checkCompaction, entryNotFound } from "../../store-errors.ts";
import { bigints, byteas, texts } from "../binary-copy.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { payloadsQuery, storePayloads, toHashes } from "./blobs.ts";
import { UNINDEXED_SESSION } from "./entry-columns.ts";
import { writeFeed } from "./feed.ts";
import { replayed, sessionKeyQuery, storeResult } from "./idempotency.ts";
import {
  chainsQuery,
  checkQuery,
  lockQuery,
  pointsQuery,
  toChains,
  toPoints,
  toSoundState,
} from "./session-state.ts";
import { addParticipants } from "./sessions.ts";

/** The columns of an appended entry. */
const NEW_COLUMNS = Object.entries(ENTRY_COLUMNS).flatMap(([name, { type, write }]) =>
  write === undefined ? [] : [[name, { type, write }] as const],
);

const ARRAYS = {
  integer: { name: "bigint[]", encode: bigints },
  text: { name: "text[]", encode: texts },
  bytes: { name: "bytea[]", encode: byteas },
};

const SQL = statements("append", {
  insertEntries: `INSERT INTO entries (tenant, session, ${NEW_COLUMNS.map(([name]) => name).join(", ")})
    SELECT $1::bigint, $2::bigint, added.* FROM unnest(${NEW_COLUMNS.map(
      ([, { type }], i) => `$${i + 3}::${ARRAYS[type].name}`,
    ).join(", ")}) AS added`,
  insertChains: `INSERT INTO chains
      (tenant, session, chain, parent_chain, fork_depth, fork_ordinal)
    SELECT $1::bigint, $2::bigint, added.*
    FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS added`,
  supersede: `UPDATE entries SET superseded_by = $4 WHERE tenant = $1 AND session = $2 AND id = $3`,
  moveState: `UPDATE session_state SET leaf_id = $3, leaf_sequence = $4, leaf_chain = $5,
      leaf_depth = $6, leaf_ordinal = $7, leaf_hash = $8, leaf_at_tip = $9, last_sequence = $10,
      last_chain = $11, message_count = message_count + $12, content_bytes = content_bytes + $13,
      updated_at = $14, last_interaction_at = $15, last_write_at = greatest(last_write_at, $16),
      input_tokens = input_tokens + $17, output_tokens = output_tokens + $18,
      cache_creation_tokens = cache_creation_tokens + $19,
      cache_read_tokens = cache_read_tokens + $20
    WHERE tenant = $1 AND session = $2`,
  compactions: `SELECT e.id, e.chain, e.depth, e.ordinal FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND e.session = s.session
      AND e.kind IN ('compaction', 'summary') AND e.kind = 'compaction'
    WHERE s.tenant = $1 AND s.id = $2 ORDER BY e.sequence DESC`,
  setSummary: `UPDATE sessions SET summary = $3 WHERE tenant = $1 AND session = $2`,
  setSummarized: `UPDATE session_state SET summarized_through = $3
    WHERE tenant = $1 AND session = $2`,
  placed: `SELECT id, sequence, parent_id, ordinal, hash FROM entries
    WHERE tenant = $1 AND id = ANY ($2)`,
  superseded: `SELECT id, superseded_by FROM entries WHERE tenant = $1 AND id = ANY ($2)`,
  parents: `SELECT e.id, e.parent_id FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND ${UNINDEXED_SESSION} = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND e.id = ANY ($3)`,
});

export async function append(tx: Transaction, request: AppendRequest): Promise<AppendResult> {
  const { sessionId, entries, summary, idempotency, guard, replaced, now } = request;
  const named = namedEntries(entries);
  const asked = summary === undefined ? named : [...named, summary.through];
  const checked = summary?.expectedCompaction !== undefined;
  const [state, sound, points, key, payloads, guarded, parents, chains, compactions] =
    await tx.together([
      lockQuery(tx, sessionId),
      checkQuery(tx, sessionId),
      pointsQuery(tx, sessionId, asked),
      sessionKeyQuery(tx, sessionId, idempotency),
      payloadsQuery(tx, entries),
      guardQuery(tx, guard),
      replacedQuery(tx, sessionId, replaced),
      checked ? chainsQuery(tx, sessionId, undefined) : undefined,
      checked ? query(SQL.compactions, tx.tenant, sessionId) : undefined,
    ]);
  const session = toSoundState(state, sound, sessionId);
  const earlier = replayed(key, idempotency);
  if (earlier !== undefined) return findResult(tx, earlier.ids, session.state);

  if (guard !== undefined) checkGuard(sessionId, guard, toGuarded(guarded));
  const known = toPoints(points);
  const plan =
    replaced === undefined
      ? planAppend(session.state, request, known)
      : await planFrom(tx, endBefore(session.state, replaced, toReplaced(parents)), {
          state: session.state,
          request,
          known,
        });
  if (summary !== undefined) {
    const through = known.get(summary.through);
    if (through === undefined) throw entryNotFound(summary.through, sessionId);
    if (checked) {
      const ranges = pathRanges(session.state.leaf, toChains(chains));
      const newest = compactions?.find((row) => isOnPath(toPathEnd(row), ranges));
      const current = newest === undefined ? null : String(newest["id"]);
      checkCompaction(sessionId, summary, current, isOnPath(through, ranges));
    }
    tx.defer(SQL.setSummary, tx.tenant, session.number, summary.text);
    tx.defer(SQL.setSummarized, tx.tenant, session.number, summary.through);
  }
  executePlan(tx, session.number, plan, now, toHashes(payloads));
  const ids = plan.rows.map((row) => row.entry.id);
  storeResult(tx, session.number, idempotency, { ids }, now);
  writeFeed(tx, plan.changes, planDelta(plan));
  const result = appendResult(plan);
  return request.isHistory ? { ...result, entries: [] } : result;
}

/** The plan of an append that continues from the entry `id`. */
async function planFrom(
  tx: Transaction,
  id: string | null,
  { state, request, known }: Replacement,
): Promise<AppendPlan> {
  const [rows] = await tx.together([pointsQuery(tx, state.sessionId, id === null ? [] : [id])]);
  const end = id === null ? null : toPoints(rows).get(id);
  if (end === undefined) throw entryNotFound(id ?? "", state.sessionId);
  return planReplacement(state, end, request, known);
}

interface Replacement {
  readonly state: SessionState;
  readonly request: AppendRequest;
  readonly known: ReadonlyMap<string, Point>;
}

/** Writes a plan, except for the feed. `stored` are the existing payloads. */
export function executePlan(
  tx: Transaction,
  session: number,
  plan: AppendPlan,
  now: number,
  stored: ReadonlySet<string>,
): void {
  if (plan.chains.length > 0) insertChains(tx, session, plan);
  if (plan.rows.length > 0) insertEntries(tx, session, plan.rows);
  storePayloads(tx, session, plan.rows, stored);
  for (const { id, by } of plan.superseded) tx.defer(SQL.supersede, tx.tenant, session, id, by);
  addParticipants(tx, session, plan.actors);
  moveState(tx, session, plan, now);
}

export function appendResult(plan: AppendPlan): AppendResult {
  return { entries: plan.rows.map(placedEntry), leaf: plan.leaf?.id ?? null, replayed: false };
}

/** The result of a replayed request, from its stored ids. */
export async function findResult(
  tx: Transaction,
  ids: readonly string[],
  state: SessionState,
): Promise<AppendResult> {
  const rows = await tx.all(SQL.placed, tx.tenant, ids);
  const placed = new Map(rows.map(toPlacedEntry).map((entry) => [entry.id, entry]));
  const entries = ids.flatMap((id) => placed.get(id) ?? []);
  return { entries, leaf: state.leaf?.id ?? null, replayed: true };
}

function insertChains(tx: Transaction, session: number, { chains }: AppendPlan): void {
  tx.defer(
    SQL.insertChains,
    tx.tenant,
    session,
    bigints(chains.map((chain) => chain.chain)),
    bigints(chains.map((chain) => chain.parentChain)),
    bigints(chains.map((chain) => chain.forkDepth)),
    bigints(chains.map((chain) => chain.forkOrdinal)),
  );
}

function insertEntries(tx: Transaction, session: number, rows: readonly EntryRow[]): void {
  const columns = NEW_COLUMNS.map(([, { type, write }]) =>
    ARRAYS[type].encode(rows.map(write) as never),
  );
  tx.defer(SQL.insertEntries, tx.tenant, session, ...columns);
}

function moveState(tx: Transaction, session: number, plan: AppendPlan, now: number): void {
  const { leaf, usage } = plan;
  tx.defer(
    SQL.moveState,
    tx.tenant,
    session,
    ...leafValues(leaf),
    plan.lastSequence,
    plan.lastChain,
    plan.messages,
    plan.contentBytes,
    plan.updatedAt,
    plan.lastInteractionAt,
    now,
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheCreationTokens,
    usage.cacheReadTokens,
  );
}

function guardQuery(tx: Transaction, guard: AppendGuard | undefined): Query | undefined {
  return guard === undefined ? undefined : query(SQL.superseded, tx.tenant, guardedIds(guard));
}

function toGuarded(rows: readonly Row[] | undefined): GuardedEntry[] {
  return (rows ?? []).map((row) => ({
    id: String(row["id"]),
    supersededBy: row["superseded_by"] as string | null,
  }));
}

function replacedQuery(
  tx: Transaction,
  sessionId: string,
  ids: readonly string[] | undefined,
): Query | undefined {
  return ids === undefined ? undefined : query(SQL.parents, tx.tenant, sessionId, ids);
}

function toReplaced(rows: readonly Row[] | undefined): Map<string, ReplacedEntry> {
  return new Map(
    (rows ?? []).map((row) => {
      const id = String(row["id"]);
      return [id, { id, parentId: row["parent_id"] as string | null }];
    }),
  );
}
