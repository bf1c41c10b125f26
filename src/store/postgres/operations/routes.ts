/** Routes: session keys and their sessions. */

import type { ChangeAuthor } from "../../../model/change.ts";
import type { RouteSession, SessionRoute } from "../../../model/route.ts";
import { routeChanged, sessionCreated } from "../../plan/new-changes.ts";
import type { NewChange } from "../../plan/plan-append.ts";
import { planPatchRoute, planPutRoute } from "../../plan/plan-route.ts";
import type { PatchRouteRequest, PutRouteRequest } from "../../requests.ts";
import {
  ROUTE_COLUMNS,
  ROUTE_SESSION_COLUMNS,
  toRoute,
  toRouteSession,
} from "../../rows/route-row.ts";
import { routeKeyNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant, writeFeed } from "./feed.ts";
import { stateQuery, toState } from "./session-state.ts";
import { claimSession, insertSession } from "./sessions.ts";

const SQL = statements("routes", {
  find: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key = $2`,
  /** There may be no row to lock yet, so writers of one key take an advisory lock on its name. */
  lock: `SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2, 0)) IS NULL AS locked`,
  list: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key > $2
    ORDER BY r.key LIMIT $3`,
  put: `INSERT INTO routes (tenant, key, session_id, version, created_at, updated_at, fields)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, key) DO UPDATE SET
      session_id = excluded.session_id, version = excluded.version,
      updated_at = excluded.updated_at, fields = excluded.fields`,
  addSession: `INSERT INTO route_sessions (tenant, key, version, session_id, since, reason)
    VALUES ($1, $2, $3, $4, $5, $6)`,
  delete: `DELETE FROM routes WHERE tenant = $1 AND key = $2`,
  deleteSessions: `DELETE FROM route_sessions WHERE tenant = $1 AND key = $2`,
  listSessions: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.key = $2 AND h.version < $3 ORDER BY h.version DESC LIMIT $4`,
  ofSession: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.session_id = $2 ORDER BY h.since DESC, h.key LIMIT $3`,
});

export async function putRoute(tx: Transaction, request: PutRouteRequest): Promise<SessionRoute> {
  const { key, sessionId, session, reason, now } = request;
  await ensureTenant(tx, now);
  const current = await lockRoute(tx, key);
  const { route, switched } = planPutRoute(current, request);
  const changes: NewChange[] = [];
  if (session === undefined) {
    const [state] = await tx.together([stateQuery(tx, sessionId)]);
    toState(state, sessionId);
  } else {
    const claim = await claimSession(tx, session);
    if ("number" in claim) {
      insertSession(tx, claim, session);
      changes.push(sessionCreated(session.id, session.now));
    }
  }
  writeRoute(tx, route);
  if (switched) tx.defer(SQL.addSession, tx.tenant, key, route.version, sessionId, now, reason);
  const made = changes.length === 0 ? {} : { sessions: 1 };
  writeFeed(
    tx,
    [...changes, routeChanged(route, now, switched ? { reason } : {}, request.by)],
    made,
  );
  return route;
}

export async function patchRoute(
  tx: Transaction,
  request: PatchRouteRequest,
): Promise<SessionRoute> {
  const route = planPatchRoute(await lockRoute(tx, request.key), request);
  writeRoute(tx, route);
  const fields = Object.keys(request.fields).sort();
  writeFeed(tx, [routeChanged(route, request.now, { fields }, request.by)]);
  return route;
}

export async function deleteRoute(
  tx: Transaction,
  key: string,
  now: number,
  by?: ChangeAuthor,
): Promise<void> {
  const route = await lockRoute(tx, key);
  if (route === undefined) throw routeKeyNotFound(key);
  tx.defer(SQL.deleteSessions, tx.tenant, key);
  tx.defer(SQL.delete, tx.tenant, key);
  writeFeed(tx, [routeChanged(route, now, "deleted", by)]);
}

export async function findRoute(tx: Transaction, key: string): Promise<SessionRoute | undefined> {
  const row = await tx.get(SQL.find, tx.tenant, key);
  return row === undefined ? undefined : toRoute(row);
}

export async function listRoutes(
  tx: Transaction,
  after: string | undefined,
  limit: number,
): Promise<SessionRoute[]> {
  return (await tx.all(SQL.list, tx.tenant, after ?? "", limit)).map(toRoute);
}

export async function listRouteSessions(
  tx: Transaction,
  key: string,
  before: number | undefined,
  limit: number,
): Promise<RouteSession[]> {
  const last = before ?? Number.MAX_SAFE_INTEGER;
  return (await tx.all(SQL.listSessions, tx.tenant, key, last, limit)).map(toRouteSession);
}

export async function listSessionRoutes(
  tx: Transaction,
  sessionId: string,
  limit: number,
): Promise<RouteSession[]> {
  return (await tx.all(SQL.ofSession, tx.tenant, sessionId, limit)).map(toRouteSession);
}

/** The route under its lock, taken before the tenant's, as everywhere. */
async function lockRoute(tx: Transaction, key: string): Promise<SessionRoute | undefined> {
  const [, rows] = await tx.together([
    query(SQL.lock, tx.tenant, key),
    query(SQL.find, tx.tenant, key),
  ]);
  return rows?.[0] === undefined ? undefined : toRoute(rows[0]);
}

function writeRoute(tx: Transaction, route: SessionRoute): void {
  const { key, sessionId, version, createdAt, updatedAt, fields } = route;
  const bytes = Buffer.from(JSON.stringify(fields));
  tx.defer(SQL.put, tx.tenant, key, sessionId, version, createdAt, updatedAt, bytes);
}
