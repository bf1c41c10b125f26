/** The error codes of an operation, derived from its route. */

import type { ErrorCode } from "../../model/errors.ts";
import type { Route } from "../route.ts";

const BY_PARAM: Readonly<Record<string, ErrorCode>> = {
  session_id: "session_not_found",
  entry_id: "entry_not_found",
  stream_id: "entry_not_found",
  fact_id: "fact_not_found",
  token_id: "token_not_found",
  share_id: "token_not_found",
  name: "memory_not_found",
  record_key: "record_not_found",
  key: "session_key_not_found",
};

const BY_OPERATION: Readonly<Record<string, readonly ErrorCode[]>> = {
  createSession: ["session_exists"],
  write: ["stream_lost"],
  commit: ["stream_lost"],
  searchSessions: ["search_superseded"],
  searchSessionsByBody: ["search_superseded"],
  buildContext: ["budget_too_small"],
  compact: [
    "nothing_to_compact",
    "compaction_conflict",
    "compaction_cancelled",
    "model_unavailable",
    "model_failed",
    "summary_rejected",
  ],
  summarize: ["model_unavailable", "model_failed", "summary_rejected"],
  extractFacts: ["facts_disabled", "model_unavailable", "model_failed"],
  generateTitle: ["model_unavailable", "model_failed"],
  importTranscript: ["unknown_format"],
  listChanges: ["cursor_expired"],
  listSessionChanges: ["cursor_expired"],
  putRoute: ["route_conflict", "session_not_found"],
  patchRoute: ["route_conflict"],
  putRecord: ["record_conflict"],
  putRecordBytes: ["record_conflict"],
  deleteRecord: ["record_conflict"],
  writeRecords: ["record_conflict", "record_not_found"],
};

export function errorsOf(route: Route): readonly ErrorCode[] {
  const query = Object.keys(route.query.shape);
  const readsBody = route.body !== undefined || route.bytes !== undefined;
  return [
    ...new Set<ErrorCode>([
      "invalid_input",
      ...(["cursor", "after"].some((name) => query.includes(name))
        ? (["invalid_cursor"] as const)
        : []),
      "unauthorized",
      "forbidden",
      ...(route.scope === "write" ? (["quota_exceeded", "store_read_only"] as const) : []),
      ...Object.keys(route.params.shape).flatMap((name) => BY_PARAM[name] ?? []),
      ...(route.scope === "read" && "session_id" in route.params.shape
        ? (["session_ambiguous"] as const)
        : []),
      ...(BY_OPERATION[route.operation] ?? []),
      ...(route.takesLeaf ? (["stale_leaf"] as const) : []),
      ...(route.takesKey ? (["idempotency_conflict"] as const) : []),
      ...(readsBody ? (["request_timeout", "too_large"] as const) : []),
      "rate_limited",
      "store_busy",
    ]),
  ];
}
