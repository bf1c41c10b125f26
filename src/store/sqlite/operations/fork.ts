/** Forks a session: a new session with a copy of a path. */

import { MAX_PAGE } from "../../../model/limits.ts";
import type { Session } from "../../../model/session.ts";
import { planDelta, sessionCreated } from "../../plan/new-changes.ts";
import { planAppend } from "../../plan/plan-append.ts";
import { erasedCopies } from "../../plan/plan-erase.ts";
import { type CopiedEntries, copyEntries, needsPayloads } from "../../plan/plan-fork.ts";
import type { EntryRecord, ForkRequest } from "../../records.ts";
import { checkNode, entryNotFound, sessionNotFound } from "../../store-errors.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { executePlan, findPoint, readState } from "./append.ts";
import { holdPayloadsOf } from "./blobs.ts";
import { eraseRows } from "./erase-content.ts";
import { findTenant, planFeed, writePlannedFeed } from "./feed.ts";
import { replayed, storeResult } from "./idempotency.ts";
import { findEntries, readEntries } from "./read-entries.ts";
import { getSession, insertSession } from "./sessions.ts";

const SQL = statements("fork", {
  pin: `UPDATE entries SET pinned = 1 WHERE tenant = ? AND session = ? AND id = ?`,
});

export function forkSession(db: SqliteConnection, name: string, request: ForkRequest): Session {
  const { session, sessionId } = request;
  const tenant = findTenant(db, name);
  const source = readState(db, tenant, sessionId);
  if (tenant === undefined) throw sessionNotFound(sessionId);
  const earlier = replayed(db, tenant, 0, session.idempotency);
  if (earlier !== undefined) return getSession(db, name, earlier.ids[0] ?? "");

  const through = request.through ?? source.state.leaf?.id;
  const point = through === undefined ? undefined : findPoint(db, tenant, source.number, through);
  if (point === undefined)
    throw entryNotFound(through ?? "(none: the session is empty)", sessionId);
  checkNode(point, sessionId);

  const number = insertSession(db, tenant, session, {
    parentSessionId: sessionId,
    forkPoint: point.id,
    rootHash: point.hash,
  });
  const created = sessionCreated(session.id, session.now);
  const { state } = readState(db, tenant, session.id);
  const { entries, pinned } = copyPath(db, name, sessionId, point.id, session.now);
  const plan = planAppend(state, { sessionId: session.id, entries, now: session.now }, new Map());
  const feed = planFeed(db, tenant, [created, ...plan.changes]);
  executePlan(db, tenant, number, plan, feed, session.now);
  eraseRows(db, tenant, number, erasedCopies(plan));
  for (const { entry, place } of plan.rows) {
    if (entry.copiedFrom !== undefined && entry.payloads.length === 0) {
      holdPayloadsOf(db, tenant, number, place.sequence, entry.copiedFrom);
    }
  }
  for (const id of pinned) db.run(SQL.pin, tenant, number, id);
  storeResult(db, tenant, 0, session.idempotency, { ids: [session.id] }, session.now);
  const delta = { sessions: 1, ...planDelta(plan) };
  writePlannedFeed(db, tenant, feed, delta, number);
  return getSession(db, name, session.id);
}

function copyPath(
  db: SqliteConnection,
  name: string,
  sessionId: string,
  leaf: string,
  now: number,
): CopiedEntries {
  const path: EntryRecord[] = [];
  let after: string | undefined;
  for (;;) {
    const page = readEntries(db, name, {
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
  const { payloads } = findEntries(db, name, needsPayloads(path), true);
  return copyEntries(path, payloads, now);
}
