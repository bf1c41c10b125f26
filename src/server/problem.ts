/** Errors by RFC 9457: `application/problem+json` with our code in it. */

import { toWireError } from "../api/error.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";

export interface WireProblem {
  /** A reference of the code in the documentation. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode | "internal_error";
  readonly details: JsonObject;
  readonly request_id: string;
}

/** Exhaustive: a new code does not compile without an entry. */
export const HTTP_STATUS: Readonly<Record<ErrorCode | "internal_error", number>> = {
  invalid_input: 400,
  invalid_cursor: 400,
  invalid_address: 400,
  unauthorized: 401,
  forbidden: 403,
  quota_exceeded: 403,
  store_read_only: 403,
  session_not_found: 404,
  entry_not_found: 404,
  memory_not_found: 404,
  fact_not_found: 404,
  record_not_found: 404,
  token_not_found: 404,
  route_not_found: 404,
  session_key_not_found: 404,
  request_timeout: 408,
  session_ambiguous: 409,
  session_exists: 409,
  route_conflict: 409,
  record_conflict: 409,
  stream_lost: 409,
  nothing_to_compact: 409,
  compaction_conflict: 409,
  compaction_cancelled: 409,
  facts_disabled: 409,
  embedder_conflict: 409,
  search_superseded: 409,
  store_not_empty: 409,
  cursor_expired: 410,
  stale_leaf: 412,
  too_large: 413,
  unknown_format: 415,
  idempotency_conflict: 422,
  budget_too_small: 422,
  rate_limited: 429,
  internal_error: 500,
  store_corrupt: 500,
  foreign_database: 500,
  unsupported_storage: 500,
  model_failed: 502,
  summary_rejected: 502,
  model_unavailable: 503,
  store_not_found: 503,
  store_closed: 503,
  store_busy: 503,
  store_unavailable: 503,
  schema_too_new: 503,
  needs_migration: 503,
  schema_too_old: 503,
  store_full: 507,
};

/** The retry delay, if the error has none. */
const RETRY_AFTER_SECONDS = 1;

export function toProblemResponse(error: unknown, requestId: string): Response {
  const wire = toWireError(error).error;
  const { code } = wire;
  const status = HTTP_STATUS[code];
  const problem: WireProblem = {
    type: `urn:backscroll:error:${code}`,
    title: code.replaceAll("_", " "),
    status,
    // An unexpected error is a bug: do not send its message, which may hold content.
    detail:
      code === "internal_error" ? "internal error; the server's log has the cause" : wire.message,
    code,
    details: wire.details,
    request_id: requestId,
  };
  return new Response(JSON.stringify(problem), {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(status === 401 ? { "www-authenticate": 'Bearer realm="backscroll"' } : {}),
      ...(status === 429 || status === 503 ? { "retry-after": retryAfter(error) } : {}),
    },
  });
}

function retryAfter(error: unknown): string {
  const ms = BackscrollError.is(error) ? error.details["retryAfterMs"] : undefined;
  return String(typeof ms === "number" ? Math.max(1, Math.ceil(ms / 1000)) : RETRY_AFTER_SECONDS);
}

export function routeNotFound(): BackscrollError {
  return new BackscrollError(
    "route_not_found",
    "no route has this path and method; /docs lists the routes",
  );
}
