/** Plans the change of a route, for both backends. */

import type { JsonObject } from "../../model/json.ts";
import type { SessionRoute } from "../../model/route.ts";
import type { PatchRouteRequest, PutRouteRequest } from "../requests.ts";
import { mergeFields } from "../rows/session-values.ts";
import { routeConflict, routeKeyNotFound } from "../store-errors.ts";

export interface PlannedRoute {
  readonly route: SessionRoute;
  /** Whether the session changes. */
  readonly switched: boolean;
}

/** Compare-and-swap: throws `route_conflict` unless the route is at the expected version. */
export function planPutRoute(
  current: SessionRoute | undefined,
  request: PutRouteRequest,
): PlannedRoute {
  const { key, sessionId, fields, now } = request;
  checkVersion(key, current, request.expectedVersion);
  return {
    route: {
      key,
      sessionId,
      fields,
      version: (current?.version ?? 0) + 1,
      createdAt: current?.createdAt ?? now,
      updatedAt: Math.max(now, current?.updatedAt ?? 0),
    },
    switched: current?.sessionId !== sessionId,
  };
}

export function planPatchRoute(
  current: SessionRoute | undefined,
  request: PatchRouteRequest,
): SessionRoute {
  if (current === undefined) throw routeKeyNotFound(request.key);
  checkVersion(request.key, current, request.expectedVersion);
  return {
    ...current,
    fields: mergeFields(current.fields as JsonObject, request.fields),
    version: current.version + 1,
    updatedAt: Math.max(request.now, current.updatedAt),
  };
}

function checkVersion(
  key: string,
  current: SessionRoute | undefined,
  expected: number | undefined,
): void {
  const version = current?.version ?? 0;
  if (expected !== undefined && expected !== version) throw routeConflict(key, version, expected);
}
