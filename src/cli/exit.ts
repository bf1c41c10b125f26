/** Exit codes, for scripts. */

import { BackscrollError, type ErrorCode } from "../model/errors.ts";

export const EXIT = {
  ok: 0,
  /** Not found, nothing to do, or problems found by `doctor` or `setup`. */
  nothing: 1,
  usage: 2,
  conflict: 3,
  noStore: 4,
  unavailable: 5,
  refused: 6,
  damaged: 7,
  version: 8,
  /** A bug of ours, under sysexits.h's number. */
  internal: 70,
  /** From `bin/backscroll.js`, before anything else is loaded. */
  oldNode: 78,
} as const;

/** Meanings of the exit codes, for the documentation. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "Success. An empty list is a success, too.",
  nothing:
    "No such session, entry, memory, fact, route or token; a search found nothing; there is nothing to compact; `setup` found no agent, a file that it may not write or a server that does not start; or `doctor` found problems.",
  usage: "The command line or a value in it is wrong.",
  conflict: "Conflict: the current state is not the expected one. Read it, then decide.",
  noStore: "There is no store at this address.",
  unavailable: "The store or the language model cannot be used now; trying again later may help.",
  refused:
    "Refused: the store is read-only, full or over its quota, or the token's scope does not suffice.",
  damaged: "The address does not hold a usable store.",
  version: "The store was written by another version of Backscroll.",
  internal: "A bug in Backscroll.",
  oldNode: "Node is older than 22.18.",
};

/** Exhaustive: a new code does not compile without an entry. */
export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  invalid_input: EXIT.usage,
  too_large: EXIT.usage,
  invalid_cursor: EXIT.usage,
  invalid_address: EXIT.usage,
  budget_too_small: EXIT.usage,
  facts_disabled: EXIT.usage,
  embedder_conflict: EXIT.usage,
  unknown_format: EXIT.usage,
  session_ambiguous: EXIT.usage,

  session_not_found: EXIT.nothing,
  entry_not_found: EXIT.nothing,
  memory_not_found: EXIT.nothing,
  fact_not_found: EXIT.nothing,
  record_not_found: EXIT.nothing,
  token_not_found: EXIT.nothing,
  session_key_not_found: EXIT.nothing,
  nothing_to_compact: EXIT.nothing,

  session_exists: EXIT.conflict,
  stale_leaf: EXIT.conflict,
  route_conflict: EXIT.conflict,
  record_conflict: EXIT.conflict,
  stream_lost: EXIT.conflict,
  idempotency_conflict: EXIT.conflict,
  cursor_expired: EXIT.conflict,
  store_not_empty: EXIT.conflict,
  compaction_conflict: EXIT.conflict,
  compaction_cancelled: EXIT.conflict,
  search_superseded: EXIT.conflict,

  store_not_found: EXIT.noStore,

  store_closed: EXIT.unavailable,
  store_busy: EXIT.unavailable,
  store_unavailable: EXIT.unavailable,
  model_unavailable: EXIT.unavailable,
  model_failed: EXIT.unavailable,
  summary_rejected: EXIT.unavailable,

  rate_limited: EXIT.unavailable,
  request_timeout: EXIT.unavailable,

  unauthorized: EXIT.refused,
  forbidden: EXIT.refused,
  store_read_only: EXIT.refused,
  store_full: EXIT.refused,
  quota_exceeded: EXIT.refused,

  store_corrupt: EXIT.damaged,
  foreign_database: EXIT.damaged,
  unsupported_storage: EXIT.damaged,
  route_not_found: EXIT.damaged,

  schema_too_new: EXIT.version,
  needs_migration: EXIT.version,
  schema_too_old: EXIT.version,
};

export function exitCodeOf(error: unknown): number {
  return BackscrollError.is(error) ? (EXIT_CODES[error.code] ?? EXIT.internal) : EXIT.internal;
}
