/** The plain calls of the store and of parts of a tenant: see `operation.ts`. */

import { RECAP, RELATED, RESUME_COMMAND } from "../model/answers/context.ts";
import { MAINTENANCE_REPORT } from "../model/answers/gateway.ts";
import { SWEEP, VERIFY_REPORT } from "../model/answers/store.ts";
import { OUTLINE } from "../model/outline.ts";
import { RECORD_INFO } from "../model/record.ts";
import { REVIEW } from "../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../model/route.ts";

export const ROUTE_SESSIONS = { sessions: [ROUTE_SESSION as typeof ROUTE_SESSION] } as const;
const RECORD_TEXT = { text: "text" } as const;

/** Functions of the library over a tenant, which a server runs in one request. */
export const FUNCTION_CALLS = {
  recapSessions: {
    http: "GET /v1/recap",
    tag: "search",
    summary: "A recap of a period, a project or a session.",
    input: "recapSessions",
    answer: RECAP as typeof RECAP,
    about: "Made without a model.",
  },
  relatedSessions: {
    http: "GET /v1/related",
    tag: "search",
    summary: "Sessions like a given one, and where the same question was asked before.",
    input: "relatedSessions",
    answer: RELATED as typeof RELATED,
    about: "The most alike first.",
  },
  review: {
    http: "GET /v1/review",
    tag: "sessions",
    summary: "Sessions with failures, and their tools and files.",
    input: "reviewSessions",
    answer: REVIEW as typeof REVIEW,
    about: "The newest sessions, with their failed calls, retries and loose ends.",
  },
  outlineSession: {
    http: "GET /v1/sessions/{session_id}/outline",
    summary: "What was asked and done in a session, and where it has a text.",
    input: "outlineSession",
    answer: OUTLINE as typeof OUTLINE,
    about: "Of at most 2,000 messages.",
  },
  resumeCommand: {
    http: "GET /v1/sessions/{session_id}/resume",
    summary: "The command that continues the session in its own agent.",
    answer: RESUME_COMMAND as typeof RESUME_COMMAND,
    about: "The command is null where the agent has none.",
  },
  maintainSessions: {
    http: "POST /v1/admin/maintain",
    scope: "admin",
    summary: "Delete sessions that are too old, too many or too large, as the settings say.",
    input: "maintainSessions",
    answer: MAINTENANCE_REPORT as typeof MAINTENANCE_REPORT,
    about: "Sessions to delete, with reasons.",
    slow: true,
  },
} as const;

/** The methods of `Routes`. */
export const ROUTE_CALLS = {
  list: {
    http: "GET /v1/routes",
    operation: "listRoutes",
    tag: "gateway",
    summary: "Session keys, and the session that each leads to.",
    input: "routes.list",
    answer: { routes: [SESSION_ROUTE as typeof SESSION_ROUTE], next: "text|null" },
    pick: "routes",
    about: "A page of routes, by key.",
  },
  get: {
    http: "GET /v1/routes/{key}",
    operation: "getRoute",
    tag: "gateway",
    summary: "The route of a session key.",
    answer: SESSION_ROUTE as typeof SESSION_ROUTE,
    about: "The route.",
  },
  patch: {
    http: "PATCH /v1/routes/{key}",
    operation: "patchRoute",
    tag: "gateway",
    summary: "Change a route's fields.",
    input: "routes.patch",
    args: ["key", "fields", "input"],
    answer: SESSION_ROUTE as typeof SESSION_ROUTE,
    about: "The route as it is now.",
  },
  delete: {
    http: "DELETE /v1/routes/{key}",
    operation: "deleteRoute",
    tag: "gateway",
    summary: "Delete a session key; its sessions stay.",
  },
  history: {
    http: "GET /v1/routes/{key}/sessions",
    operation: "routeHistory",
    tag: "gateway",
    summary: "The sessions of a session key.",
    input: "routes.history",
    answer: ROUTE_SESSIONS as typeof ROUTE_SESSIONS,
    pick: "sessions",
    about: "The newest first.",
  },
  ofSession: {
    http: "GET /v1/sessions/{session_id}/routes",
    operation: "routesOfSession",
    tag: "gateway",
    summary: "The keys that lead or led to a session.",
    answer: ROUTE_SESSIONS as typeof ROUTE_SESSIONS,
    pick: "sessions",
    about: "The newest first.",
  },
} as const;

/** The methods of `Records`. */
export const RECORD_CALLS = {
  search: {
    http: "POST /v1/records/search",
    operation: "searchRecords",
    scope: "read",
    summary: "Find records by their texts, the best first.",
    input: "searchRecords",
    args: ["query", "input"],
    answer: {
      records: [{ ...RECORD_INFO, ...RECORD_TEXT } as typeof RECORD_INFO & typeof RECORD_TEXT],
    },
    pick: "records",
    about: "Records without their values.",
  },
} as const;

/** The methods of `Shares`. */
export const SHARE_CALLS = {
  revoke: {
    http: "DELETE /v1/shares/{share_id}",
    operation: "revokeShare",
    summary: "Revoke a link.",
  },
} as const;

/** Methods of `Engine`, which the client calls by hand. */
export const ENGINE_CALLS = {
  sweep: {
    http: "POST /v1/admin/sweep",
    scope: "admin",
    act: "sweep",
    summary: "Delete expired sessions and records.",
    answer: SWEEP as typeof SWEEP,
    about: "Counts of the sweep.",
    slow: true,
  },
  sweepAll: {
    http: "POST /v1/admin/store/sweep",
    scope: "admin",
    operator: true,
    act: "sweep_store",
    summary: "Sweep every tenant.",
    answer: SWEEP as typeof SWEEP,
    about: "Counts of the sweep.",
    slow: true,
  },
  verify: {
    http: "POST /v1/admin/store/verify",
    scope: "admin",
    operator: true,
    summary: "Recompute every hash of every tenant.",
    input: "verify",
    place: "query",
    answer: VERIFY_REPORT as typeof VERIFY_REPORT,
    about: "The problems found.",
    slow: true,
    repeatable: true,
  },
  checkIntegrity: {
    http: "POST /v1/admin/store/check",
    scope: "admin",
    operator: true,
    summary: "The backend's own check of its files.",
    answer: { problems: ["text"] },
    pick: "problems",
    about: "The damage found; empty if there is none.",
    slow: true,
    repeatable: true,
  },
} as const;

/** The path of a shared session; the token follows. */
export const SHARE_PATH = "/share/";
