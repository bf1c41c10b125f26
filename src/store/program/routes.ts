/** Routes: session keys and their sessions. */

import type { ChangeAuthor } from "../../model/change.ts";
import type { RouteSession, SessionRoute } from "../../model/route.ts";
import { routeChanged } from "../plan/new-changes.ts";
import type { NewChange } from "../plan/plan-append.ts";
import { planPatchRoute, planPutRoute } from "../plan/plan-route.ts";
import type { PatchRouteRequest, PutRouteRequest } from "../requests.ts";
import { routeKeyNotFound } from "../store-errors.ts";
import type { Program, ProgramPort } from "./port.ts";
import { type ROUTES_SQL, toRoute, toRouteSession } from "./tables.ts";

type Port = ProgramPort<keyof typeof ROUTES_SQL | "lock">;

export function* putRoute(port: Port, request: PutRouteRequest): Program<SessionRoute> {
  const { key, sessionId, session, reason, now } = request;
  yield* port.ensureTenant(now);
  const { route, switched } = planPutRoute(yield* lockRoute(port, key), request);
  let changes: readonly NewChange[] = [];
  if (session === undefined) yield* port.sessionNumber(sessionId);
  else changes = yield* port.createSession(session);
  writeRoute(port, route);
  if (switched) port.run("addSession", key, route.version, sessionId, now, reason);
  port.writeFeed(
    [...changes, routeChanged(route, now, switched ? { reason } : {}, request.by)],
    changes.length === 0 ? {} : { sessions: 1 },
  );
  return route;
}

export function* patchRoute(port: Port, request: PatchRouteRequest): Program<SessionRoute> {
  const route = planPatchRoute(yield* lockRoute(port, request.key), request);
  writeRoute(port, route);
  const fields = Object.keys(request.fields).sort();
  port.writeFeed([routeChanged(route, request.now, { fields }, request.by)]);
  return route;
}

export function* deleteRoute(
  port: Port,
  key: string,
  now: number,
  by?: ChangeAuthor,
): Program<void> {
  const route = yield* lockRoute(port, key);
  if (route === undefined) throw routeKeyNotFound(key);
  port.run("deleteSessions", key);
  port.run("delete", key);
  port.writeFeed([routeChanged(route, now, "deleted", by)]);
}

export function* findRoute(port: Port, key: string): Program<SessionRoute | undefined> {
  const [row] = yield* port.rows("find", key);
  return row === undefined ? undefined : toRoute(row);
}

export function* listRoutes(
  port: Port,
  after: string | undefined,
  limit: number,
): Program<SessionRoute[]> {
  return (yield* port.rows("list", after ?? "", limit)).map(toRoute);
}

export function* listRouteSessions(
  port: Port,
  key: string,
  before: number | undefined,
  limit: number,
): Program<RouteSession[]> {
  const last = before ?? Number.MAX_SAFE_INTEGER;
  return (yield* port.rows("listSessions", key, last, limit)).map(toRouteSession);
}

export function* listSessionRoutes(
  port: Port,
  sessionId: string,
  limit: number,
): Program<RouteSession[]> {
  return (yield* port.rows("ofSession", sessionId, limit)).map(toRouteSession);
}

/** The route under its lock, taken before the tenant's, as everywhere. */
function* lockRoute(port: Port, key: string): Program<SessionRoute | undefined> {
  const [, [row] = []] = yield* port.together(["lock", key], ["find", key]);
  return row === undefined ? undefined : toRoute(row);
}

function writeRoute(port: Port, route: SessionRoute): void {
  const { key, sessionId, version, createdAt, updatedAt, fields } = route;
  const bytes = Buffer.from(JSON.stringify(fields));
  port.run("put", key, sessionId, version, createdAt, updatedAt, bytes);
}
