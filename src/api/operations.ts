/** The plain calls of a store, of its tenants, of their sessions and of other parts: see `operation.ts`. */

import { ACCESS_TOKEN } from "../model/access.ts";
import {
  BRANCH,
  CONTEXT_USAGE,
  RECAP,
  RELATED,
  RESUME_COMMAND,
  SUMMARY,
} from "../model/answers/context.ts";
import { MAINTENANCE_REPORT } from "../model/answers/gateway.ts";
import {
  DERIVED,
  FACETS,
  INDEX_STATUS,
  INGESTED_FILE,
  SWEEP,
  TENANT_STATUS,
  TOMBSTONE,
  VERIFY_REPORT,
} from "../model/answers/store.ts";
import { ENTRY } from "../model/entry.ts";
import { FACT, MEMORY } from "../model/note.ts";
import { RECORD_INFO } from "../model/record.ts";
import { REVIEW } from "../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../model/route.ts";
import { SESSION } from "../model/session.ts";

export const ENTRIES = { entries: [ENTRY as typeof ENTRY] } as const;
export const FACTS = { facts: [FACT as typeof FACT] } as const;
export const MEMORIES = { memories: [MEMORY as typeof MEMORY] } as const;
export const ROUTE_SESSIONS = { sessions: [ROUTE_SESSION as typeof ROUTE_SESSION] } as const;
const RECORD_TEXT = { text: "text" } as const;

/** The methods of `TenantEngine`. */
export const TENANT_CALLS = {
  getSessionMeta: {
    http: "GET /v1/sessions/{session_id}",
    summary: "A session's fields.",
    answer: SESSION as typeof SESSION,
    about: "The session; its leaf as ETag.",
  },
  deleteSession: {
    http: "DELETE /v1/sessions/{session_id}",
    summary: "Delete a session with its content.",
    input: "deleteSession",
    answer: TOMBSTONE as typeof TOMBSTONE,
    about: "The tombstone.",
  },
  listDerived: {
    http: "GET /v1/sessions/{session_id}/derived",
    summary: "Forks and memories derived from a session.",
    answer: DERIVED as typeof DERIVED,
    about: "Forks, memories and facts.",
  },
  listMessages: {
    http: "GET /v1/sessions/{session_id}/messages",
    tag: "messages",
    summary: "A page of messages along a path.",
    input: "listMessages",
    answer: { messages: [ENTRY as typeof ENTRY], offset: "count", total: "count" },
    about: "Messages in order.",
  },
  getEntry: {
    http: "GET /v1/entries/{entry_id}",
    summary: "One entry, also a pending one.",
    answer: ENTRY as typeof ENTRY,
    about: "The entry.",
  },
  facets: {
    http: "POST /v1/facets",
    operation: "facetsByBody",
    scope: "read",
    tag: "search",
    summary: "The same, for a query of any length.",
    input: "facets",
    answer: FACETS as typeof FACETS,
    about: "Of a list the newest 10,000 sessions count, of a search the best 100.",
  },
  getMemory: {
    http: "GET /v1/memories/{agent}/{name}",
    summary: "One memory.",
    answer: MEMORY as typeof MEMORY,
    about: "The memory.",
  },
  putMemory: {
    http: "PUT /v1/memories/{agent}/{name}",
    summary: "Write a memory of an agent, replacing one of the same name.",
    input: "putMemory",
    what: "memory",
    answer: MEMORY as typeof MEMORY,
    about: "The memory.",
  },
  deleteMemory: {
    http: "DELETE /v1/memories/{agent}/{name}",
    summary: "Delete a memory.",
  },
  searchMemory: {
    http: "POST /v1/memories/search",
    operation: "searchMemoryByBody",
    scope: "read",
    summary: "Find memories by a long text.",
    input: "searchMemory",
    args: ["query", "input"],
    answer: MEMORIES as typeof MEMORIES,
    pick: "memories",
    about: "Whole memories.",
  },
  searchFacts: {
    http: "POST /v1/facts/search",
    operation: "searchFactsByBody",
    scope: "read",
    summary: "Find facts by a long text.",
    input: "searchFacts",
    args: ["query", "input"],
    answer: FACTS as typeof FACTS,
    pick: "facts",
    about: "Facts.",
  },
  listFacts: {
    http: "GET /v1/facts",
    summary: "List facts.",
    input: "listFacts",
    answer: FACTS as typeof FACTS,
    pick: "facts",
    about: "Facts.",
  },
  getFact: {
    http: "GET /v1/facts/{fact_id}",
    summary: "One fact.",
    answer: FACT as typeof FACT,
    about: "The fact.",
  },
  deleteFact: {
    http: "DELETE /v1/facts/{fact_id}",
    summary: "Delete a fact.",
  },
  supersedeFact: {
    http: "POST /v1/facts/{fact_id}/supersede",
    summary: "Replace a fact by another.",
    args: ["fact_id", "by"],
  },
  findIngestedFiles: {
    http: "POST /v1/ingest/files/find",
    scope: "read",
    tag: "transfer",
    summary: "Read offsets of a workstation's files.",
    args: ["workstation", "paths"],
    answer: { files: [INGESTED_FILE as typeof INGESTED_FILE] },
    pick: "files",
    about: "The known files.",
  },
  tenantStatus: {
    http: "GET /v1/status",
    tag: "store",
    summary: "Counts and sizes of the tenant.",
    answer: { status: { of: TENANT_STATUS as typeof TENANT_STATUS, absent: true } },
    pick: "status",
    about: "Counts and limits; null if nothing was ever written.",
  },
  indexStatus: {
    http: "GET /v1/index",
    tag: "store",
    summary: "The status of the index.",
    answer: INDEX_STATUS as typeof INDEX_STATUS,
    about: "The index's lag, segments and sizes.",
  },
  maintainIndex: {
    http: "POST /v1/admin/index",
    scope: "admin",
    act: "maintain_index",
    summary: "Run index maintenance now: flush, merge, rebuild or purge.",
    args: ["task"],
    answer: INDEX_STATUS as typeof INDEX_STATUS,
    about: "The status of the index afterwards.",
    slow: true,
  },
  setQuota: {
    http: "PUT /v1/admin/quota",
    scope: "admin",
    operator: true,
    summary: "Set the tenant's quota; null lifts a limit.",
    input: "setQuota",
    what: "quota",
  },
  listTokens: {
    http: "GET /v1/admin/tokens",
    scope: "admin",
    summary: "The access tokens of the tenant.",
    input: "listTokens",
    answer: { tokens: [ACCESS_TOKEN as typeof ACCESS_TOKEN] },
    pick: "tokens",
    about: "The tokens without their secrets.",
  },
  revokeToken: {
    http: "DELETE /v1/admin/tokens/{token_id}",
    scope: "admin",
    summary: "Revoke a token.",
    answer: ACCESS_TOKEN as typeof ACCESS_TOKEN,
    about: "The token as it is now.",
  },
} as const;

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

/** The methods of `SessionHandle`. */
export const SESSION_CALLS = {
  history: {
    http: "GET /v1/sessions/{session_id}/history",
    tag: "messages",
    summary: "The newest messages, in order.",
    input: "history",
    answer: ENTRIES as typeof ENTRIES,
    pick: "entries",
    about: "Entries in order.",
  },
  listEntries: {
    http: "GET /v1/sessions/{session_id}/entries",
    tag: "entries",
    summary: "A page of a path, or of the whole tree.",
    input: "listEntries",
    answer: { entries: [ENTRY as typeof ENTRY], next: "text?" },
    about: "Entries in order.",
  },
  getEntry: {
    http: "GET /v1/sessions/{session_id}/entries/{entry_id}",
    operation: "getSessionEntry",
    tag: "entries",
    summary: "One entry.",
    answer: ENTRY as typeof ENTRY,
    about: "The entry.",
  },
  getByExternalId: {
    http: "GET /v1/sessions/{session_id}/external-entry",
    tag: "entries",
    summary: "The entry with an external id.",
    args: ["external_id"],
    answer: ENTRY as typeof ENTRY,
    about: "Its newest version.",
  },
  removeEntry: {
    http: "DELETE /v1/sessions/{session_id}/entries/{entry_id}",
    tag: "entries",
    summary: "Remove an entry permanently; a tombstone stays.",
    answer: ENTRY as typeof ENTRY,
    about: "Its tombstone.",
  },
  label: {
    http: "PUT /v1/sessions/{session_id}/entries/{entry_id}/label",
    tag: "entries",
    summary: "Label an entry; null removes the label.",
    args: ["entry_id", "label"],
  },
  pin: {
    http: "PUT /v1/sessions/{session_id}/entries/{entry_id}/pin",
    tag: "entries",
    summary: "Pin an entry: it is never summarised.",
  },
  unpin: {
    http: "DELETE /v1/sessions/{session_id}/entries/{entry_id}/pin",
    tag: "entries",
    summary: "Unpin an entry.",
  },
  branches: {
    http: "GET /v1/sessions/{session_id}/branches",
    tag: "branches",
    summary: "The branches, the newest first.",
    answer: { branches: [BRANCH as typeof BRANCH] },
    pick: "branches",
    about: "At most 500 branches.",
  },
  summaries: {
    http: "GET /v1/sessions/{session_id}/summaries",
    tag: "context",
    summary: "Every summary of the session.",
    answer: { summaries: [SUMMARY as typeof SUMMARY] },
    pick: "summaries",
    about: "At most 500, the newest.",
  },
  usage: {
    http: "GET /v1/sessions/{session_id}/usage",
    tag: "context",
    summary: "Context size and billed usage.",
    args: ["leaf"],
    answer: CONTEXT_USAGE as typeof CONTEXT_USAGE,
    about: "Tokens.",
  },
  applyRetention: {
    http: "POST /v1/sessions/{session_id}/retention",
    tag: "context",
    summary: "Erase entries that compactions cover, by the session's retention.",
    answer: { erased: "count" },
    about: "How many entries.",
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
