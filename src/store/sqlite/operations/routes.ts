/** Routes: session keys and their sessions. */

import type { ChangeAuthor } from "../../../model/change.ts";
import type { RouteSession, SessionRoute } from "../../../model/route.ts";
import { routeChanged } from "../../plan/new-changes.ts";
import { planPatchRoute, planPutRoute } from "../../plan/plan-route.ts";
import type { PatchRouteRequest, PutRouteRequest } from "../../requests.ts";
import {
  ROUTE_COLUMNS,
  ROUTE_SESSION_COLUMNS,
  toRoute,
  toRouteSession,
} from "../../rows/route-row.ts";
import { routeKeyNotFound } from "../../store-errors.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, writeFeed } from "./feed.ts";
import { createSession, sessionNumber } from "./sessions.ts";

const SQL = statements("routes", {
  find: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = ? AND r.key = ?`,
  list: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = ? AND r.key > ?
    ORDER BY r.key LIMIT ?`,
  put: `INSERT INTO routes (tenant, key, session_id, version, created_at, updated_at, fields)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) DO UPDATE SET
      session_id = excluded.session_id, version = excluded.version,
      updated_at = excluded.updated_at, fields = excluded.fields`,
  addSession: `INSERT INTO route_sessions (tenant, key, version, session_id, since, reason)
    VALUES (?, ?, ?, ?, ?, ?)`,
  delete: `DELETE FROM routes WHERE tenant = ? AND key = ?`,
  deleteSessions: `DELETE FROM route_sessions WHERE tenant = ? AND key = ?`,
  listSessions: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = ? AND h.key = ? AND h.version < ? ORDER BY h.version DESC LIMIT ?`,
  ofSession: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = ? AND h.session_id = ? ORDER BY h.since DESC, h.key LIMIT ?`,
});

export function putRoute(
  db: SqliteConnection,
  name: string,
  request: PutRouteRequest,
): SessionRoute {
  const { key, sessionId, session, reason, now } = request;
  const tenant = ensureTenant(db, name, now);
  const { route, switched } = planPutRoute(findRoute(db, name, key), request);
  if (session === undefined) sessionNumber(db, tenant, sessionId);
  else createSession(db, name, session);
  writeRoute(db, tenant, route);
  if (switched) db.run(SQL.addSession, tenant, key, route.version, sessionId, now, reason);
  writeFeed(db, tenant, [routeChanged(route, now, switched ? { reason } : {}, request.by)]);
  return route;
}

export function patchRoute(
  db: SqliteConnection,
  name: string,
  request: PatchRouteRequest,
): SessionRoute {
  const route = planPatchRoute(findRoute(db, name, request.key), request);
  const tenant = ensureTenant(db, name, request.now);
  writeRoute(db, tenant, route);
  const fields = Object.keys(request.fields).sort();
  writeFeed(db, tenant, [routeChanged(route, request.now, { fields }, request.by)]);
  return route;
}

export function deleteRoute(
  db: SqliteConnection,
  name: string,
  key: string,
  now: number,
  by?: ChangeAuthor,
): void {
  const tenant = findTenant(db, name);
  const route = findRoute(db, name, key);
  if (tenant === undefined || route === undefined) throw routeKeyNotFound(key);
  db.run(SQL.deleteSessions, tenant, key);
  db.run(SQL.delete, tenant, key);
  writeFeed(db, tenant, [routeChanged(route, now, "deleted", by)]);
}

export function findRoute(
  db: SqliteConnection,
  name: string,
  key: string,
): SessionRoute | undefined {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.find, tenant, key);
  return row === undefined ? undefined : toRoute(row);
}

export function listRoutes(
  db: SqliteConnection,
  name: string,
  after: string | undefined,
  limit: number,
): SessionRoute[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.list, tenant, after ?? "", limit).map(toRoute);
}

export function listRouteSessions(
  db: SqliteConnection,
  name: string,
  key: string,
  before: number | undefined,
  limit: number,
): RouteSession[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  const rows = db.all(SQL.listSessions, tenant, key, before ?? Number.MAX_SAFE_INTEGER, limit);
  return rows.map(toRouteSession);
}

export function listSessionRoutes(
  db: SqliteConnection,
  name: string,
  sessionId: string,
  limit: number,
): RouteSession[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.ofSession, tenant, sessionId, limit).map(toRouteSession);
}

function writeRoute(db: SqliteConnection, tenant: number, route: SessionRoute): void {
  const { key, sessionId, version, createdAt, updatedAt, fields } = route;
  const bytes = Buffer.from(JSON.stringify(fields));
  db.run(SQL.put, tenant, key, sessionId, version, createdAt, updatedAt, bytes);
}
