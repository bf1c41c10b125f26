/** Errors that both backends share. */

import { BackscrollError } from "../model/errors.ts";
import type { Point } from "../transcript/place.ts";
import type { NewSummary } from "./records.ts";

/** `alike` are sessions whose ids have the same prefix. */
export function sessionNotFound(id: string, alike?: string): BackscrollError {
  const way =
    alike === undefined ? "list sessions to see their ids" : `ids with this prefix: ${alike}`;
  return new BackscrollError("session_not_found", `there is no session ${id}; ${way}`, {
    details: { sessionId: id },
  });
}

export function sessionExists(what: "id" | "origin key", value: string): BackscrollError {
  return new BackscrollError(
    "session_exists",
    `a session with the ${what} ${value} exists already`,
    { details: { field: what, value } },
  );
}

/** Without a session, no session of the tenant has the entry. */
export function entryNotFound(id: string, sessionId?: string): BackscrollError {
  return sessionId === undefined
    ? new BackscrollError("entry_not_found", `no session has an entry ${id}`, {
        details: { entryId: id },
      })
    : new BackscrollError("entry_not_found", `session ${sessionId} has no entry ${id}`, {
        details: { entryId: id, sessionId },
      });
}

export function memoryNotFound(agent: string, name: string): BackscrollError {
  return new BackscrollError("memory_not_found", `agent ${agent} has no memory named ${name}`, {
    details: { agent, name },
  });
}

export function factNotFound(id: string): BackscrollError {
  return new BackscrollError("fact_not_found", `there is no fact ${id}`, {
    details: { factId: id },
  });
}

export function recordNotFound(namespace: string, key: string): BackscrollError {
  return new BackscrollError(
    "record_not_found",
    `namespace ${namespace} has no record ${key}; list the namespace to see its keys`,
    { details: { namespace, key } },
  );
}

/** `version` is the record's; null: it does not exist. */
export function recordConflict(
  namespace: string,
  key: string,
  version: string | null,
  expected: string | null,
): BackscrollError {
  const is = version === null ? "does not exist" : `is at version ${version}`;
  const not = expected === null ? "expected to be new" : `expected at ${expected}`;
  return new BackscrollError(
    "record_conflict",
    `the record ${key} of namespace ${namespace} ${is}, and was ${not}: another writer changed it; read it again`,
    { details: { namespace, key, version: version ?? "", expected: expected ?? "" } },
  );
}

export function tokenNotFound(id: string): BackscrollError {
  return new BackscrollError(
    "token_not_found",
    `there is no access token ${id}; list tokens to see their ids`,
    { details: { tokenId: id } },
  );
}

export function routeKeyNotFound(key: string): BackscrollError {
  return new BackscrollError(
    "session_key_not_found",
    `no route has the key ${key}; list routes to see their keys`,
    { details: { key } },
  );
}

export function routeConflict(key: string, version: number, expected: number): BackscrollError {
  return new BackscrollError(
    "route_conflict",
    `the route ${key} is at version ${version}, not at ${expected}: another writer changed it; read it again`,
    { details: { key, version, expected } },
  );
}

export function streamLost(id: string): BackscrollError {
  return new BackscrollError(
    "stream_lost",
    `message ${id} is no longer open here: its lease expired or it was ended; the chunks received so far are kept under its id`,
    { details: { entryId: id } },
  );
}

export function staleLeaf(
  sessionId: string,
  leaf: string | null,
  expected: string | null,
): BackscrollError {
  return new BackscrollError(
    "stale_leaf",
    `session ${sessionId} has changed: its leaf is ${leaf ?? "empty"}, not ${expected ?? "empty"}; read the new entries and try again`,
    { details: { sessionId, leaf: leaf ?? "", expectedLeaf: expected ?? "" } },
  );
}

export function idempotencyConflict(key: string): BackscrollError {
  return new BackscrollError(
    "idempotency_conflict",
    `the idempotency key ${key} was used for another request; use a new key`,
    { details: { key } },
  );
}

export function openForReading(): BackscrollError {
  return new BackscrollError("store_read_only", "the store was opened for reading only");
}

export function queueFull(waiting: number): BackscrollError {
  return new BackscrollError(
    "store_busy",
    `${waiting} writes are queued; wait for some of them before the next`,
    { details: { waiting, retryAfterMs: 100 } },
  );
}

/** `used` counts stored bytes, `added` those of the write. */
export function checkQuota(field: string, limit: number | null, used: number, added: number): void {
  if (limit === null || added <= 0 || used + added <= limit) return;
  throw new BackscrollError(
    "quota_exceeded",
    `the tenant's quota of ${limit} ${field} is used up (${used}); delete sessions or raise the quota`,
    { details: { field, limit, actual: used + added } },
  );
}

export function checkExpectedLeaf(
  sessionId: string,
  leaf: string | null,
  expected: string | null | undefined,
): void {
  if (expected === undefined || expected === leaf) return;
  throw staleLeaf(sessionId, leaf, expected);
}

/** Throws unless `point` may have children and be a leaf. */
export function checkNode(point: Point, sessionId: string): Point {
  if (!point.annotation) return point;
  throw new BackscrollError(
    "invalid_input",
    `entry ${point.id} of session ${sessionId} is an annotation (a label, a setting or an aborted message); name the message that it belongs to`,
    { details: { field: "entryId", entryId: point.id } },
  );
}

/**
 * Throws `compaction_conflict` unless a summary still applies: see `NewSummary.expectedCompaction`.
 */
export function checkCompaction(
  sessionId: string,
  summary: NewSummary,
  current: string | null,
  onPath: boolean,
): void {
  if (current === summary.expectedCompaction && onPath) return;
  const details = { sessionId, through: summary.through };
  const message = onPath
    ? `session ${sessionId} was compacted meanwhile; read it again and compact again`
    : `session ${sessionId} has branched off before entry ${summary.through} meanwhile; compact the new branch`;
  throw new BackscrollError("compaction_conflict", message, { details });
}
