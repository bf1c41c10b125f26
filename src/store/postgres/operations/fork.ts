/** Forks a session: a new session with a copy of a path. */

import { MAX_PAGE } from "../../../model/limits.ts";
import type { Session } from "../../../model/session.ts";
import type { Point } from "../../../transcript/place.ts";
import { planDelta, sessionCreated } from "../../plan/new-changes.ts";
import { planAppend } from "../../plan/plan-append.ts";
import { erasedCopies } from "../../plan/plan-erase.ts";
import { type CopiedEntries, copyEntries, needsPayloads } from "../../plan/plan-fork.ts";
import type { EntryRecord, ForkRequest } from "../../records.ts";
import type { NumberedSession } from "../../rows/state-row.ts";
import { checkNode, entryNotFound } from "../../store-errors.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { executePlan } from "./append.ts";
import { copyHolds } from "./blobs.ts";
import { UNINDEXED_SESSION } from "./entry-columns.ts";
import { eraseRows } from "./erase-content.ts";
import { writeFeed } from "./feed.ts";
import { keyQuery, replayed, storeResult } from "./idempotency.ts";
import { findEntries, readEntries } from "./read-entries.ts";
import { lockQuery, pointsQuery, toPoints, toState } from "./session-state.ts";
import { claimSession, commitSession, getSession, insertSession } from "./sessions.ts";

const SQL = statements("fork", {
  pin: `UPDATE entries e SET pinned = 1
    WHERE e.tenant = $1 AND ${UNINDEXED_SESSION} = $2 AND e.id = ANY ($3)`,
});

export async function forkSession(tx: Transaction, request: ForkRequest): Promise<Session> {
  const { session, sessionId, through } = request;
  const [locked, points, key] = await tx.together([
    lockQuery(tx, sessionId),
    pointsQuery(tx, sessionId, through === undefined ? [] : [through]),
    keyQuery(tx, session.idempotency),
  ]);
  const source = toState(locked, sessionId);
  const earlier = replayed(key, session.idempotency);
  if (earlier !== undefined) return getSession(tx, earlier.ids[0] ?? "");
  const point = forkPoint(source, through, toPoints(points));

  const { entries, sequences, pinned } = await copyPath(tx, sessionId, point.id, session.now);
  const claim = await claimSession(tx, session);
  if ("replayed" in claim) return getSession(tx, claim.replayed);
  const fork = { parentSessionId: sessionId, forkPoint: point.id, rootHash: point.hash };
  insertSession(tx, claim, session, fork);
  const plan = planAppend(
    {
      sessionId: session.id,
      leaf: null,
      lastSequence: 0,
      lastChain: 0,
      rootHash: point.hash,
      updatedAt: session.startedAt,
      lastInteractionAt: session.startedAt,
    },
    { sessionId: session.id, entries, now: session.now },
    new Map(),
  );
  executePlan(tx, claim.number, plan, session.now, new Set());
  eraseRows(tx, claim.number, erasedCopies(plan));
  const copies = plan.rows
    .filter(({ entry }) => entry.payloads.length === 0)
    .map(({ entry, place }) => [sequences.get(entry.id) ?? 0, place.sequence] as const);
  copyHolds(tx, source.number, claim.number, copies);
  if (pinned.length > 0) tx.defer(SQL.pin, tx.tenant, claim.number, pinned);
  storeResult(tx, 0, session.idempotency, { ids: [session.id] }, session.now);
  const changes = [sessionCreated(session.id, session.now), ...plan.changes];
  writeFeed(tx, changes, { sessions: 1, ...planDelta(plan) });
  return commitSession(tx, session.id);
}

function forkPoint(
  { state }: NumberedSession,
  through: string | undefined,
  points: ReadonlyMap<string, Point>,
): Point {
  const point = through === undefined ? state.leaf : points.get(through);
  if (point === null || point === undefined) {
    throw entryNotFound(through ?? "(none: the session is empty)", state.sessionId);
  }
  return checkNode(point, state.sessionId);
}

/** The copies of a path, and each copy's original sequence by id. */
async function copyPath(
  tx: Transaction,
  sessionId: string,
  leaf: string,
  now: number,
): Promise<CopiedEntries & { readonly sequences: ReadonlyMap<string, number> }> {
  const path: EntryRecord[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readEntries(tx, {
      select: "path",
      sessionId,
      leaf,
      ...(after === undefined ? {} : { after }),
      limit: MAX_PAGE,
      payloads: false,
    });
    path.push(...page.entries);
    after = page.entries.at(-1)?.id;
    if (page.entries.length < MAX_PAGE || after === undefined) break;
  }
  const originals = new Map(path.map(({ id, sequence }) => [id, sequence]));
  const { payloads } = await findEntries(tx, needsPayloads(path), true);
  const { entries, pinned } = copyEntries(path, payloads, now);
  const sequences = new Map(
    entries.map(({ id, copiedFrom }) => [id, originals.get(copiedFrom ?? "") ?? 0]),
  );
  return { entries, pinned, sequences };
}
