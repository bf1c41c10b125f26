/** Maps rows of `routes` and `route_sessions` to the port's records. */

import type { RouteSession, SessionRoute } from "../../model/route.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { storedObject } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";

/** From `routes` (r). */
export const ROUTE_COLUMNS = "r.key, r.session_id, r.version, r.created_at, r.updated_at, r.fields";

/** From `route_sessions` (h). */
export const ROUTE_SESSION_COLUMNS = "h.key, h.session_id, h.version, h.since, h.reason";

export function toRoute(row: Row): SessionRoute {
  const key = String(row["key"]);
  return {
    key,
    sessionId: String(row["session_id"]),
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    fields: storedObject(row["fields"], (cause) =>
      rowDamaged(`the route ${key}`, "its fields are no JSON", cause),
    ),
  };
}

export function toRouteSession(row: Row): RouteSession {
  return {
    key: String(row["key"]),
    sessionId: String(row["session_id"]),
    version: Number(row["version"]),
    since: Number(row["since"]),
    reason: String(row["reason"]),
  };
}
