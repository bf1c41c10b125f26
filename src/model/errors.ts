/**
 * Error codes, which are public API.
 *
 * Each surface (CLI, REST, MCP) maps all of them in one `Record<ErrorCode, …>`, so a new code does
 * not compile until every surface handles it.
 */

export const ERROR_CODES = [
  /** An argument is of the wrong type, empty, or not allowed. `details.field` names it. */
  "invalid_input",
  /** An argument exceeds a limit. `details.field`, `details.limit` and `details.actual` say which. */
  "too_large",
  /** A page cursor of another store, or malformed. */
  "invalid_cursor",
  /** A feed cursor of another tenant, epoch or copy of this store. */
  "cursor_expired",
  /** The address is none of: a path, `:memory:`, `postgres://…`. */
  "invalid_address",

  /** No session of this tenant has this id. */
  "session_not_found",
  /** Several sessions match. `details.candidates` has their ids, separated by spaces. */
  "session_ambiguous",
  /** The session id is taken. */
  "session_exists",
  /** No entry of the session has this id. */
  "entry_not_found",
  /** The agent keeps no memory of this name. */
  "memory_not_found",
  /** No fact of this tenant has this id. */
  "fact_not_found",
  /** The namespace has no record under this key, or it has expired. */
  "record_not_found",
  /** The record's version differs from the caller's: a concurrent change. */
  "record_conflict",

  /** The active leaf is not the one that the caller expected: a concurrent append or branch. */
  "stale_leaf",
  /** The message's lease expired and it was aborted; its text so far is kept under its id. */
  "stream_lost",
  /** The idempotency key was used before, with another request. */
  "idempotency_conflict",
  /** The tenant's quota would be exceeded. */
  "quota_exceeded",

  /** Everything that can be summarised already is, or there is too little. */
  "nothing_to_compact",
  /** A concurrent compaction, or the conversation continued from before the covered part. */
  "compaction_conflict",
  /** The host's hook cancelled the compaction. */
  "compaction_cancelled",
  /** The summary is empty, refused, truncated or incomplete. No effect. */
  "summary_rejected",
  /** The pinned entries alone exceed the budget. `details.needed` is a sufficient one. */
  "budget_too_small",
  /** The session does not enable facts: `metadata.facts.enabled`. */
  "facts_disabled",
  /** No language model was given, or none under this name. */
  "model_unavailable",
  /** The language model did not answer, or its answer could not be used. */
  "model_failed",
  /** The store has vectors of another embedder. `details.embedder` names it. */
  "embedder_conflict",
  /** The file's format is not supported. */
  "unknown_format",

  /** No token, or an unknown, expired or revoked one. */
  "unauthorized",
  /** The token's scope (`details.needed`) or the machine's policy (`details.key`) forbids it. */
  "forbidden",
  /** Too many requests, or too much in progress. `details.retryAfterMs` is the retry delay. */
  "rate_limited",
  /** The body arrived too slowly; no effect. Send it again. */
  "request_timeout",
  /** A newer search on the same connection superseded this one. */
  "search_superseded",
  /** Unknown path or method. */
  "route_not_found",
  /** No route of this tenant has this session key. */
  "session_key_not_found",
  /** The route's version differs from the caller's: a concurrent change. */
  "route_conflict",
  /** No access token of this tenant has this id. */
  "token_not_found",

  /** No store at this address, and the command does not create one. */
  "store_not_found",
  /** The store is closed, or was closed while the call waited. */
  "store_closed",
  /** Too much work waits, or another process held the write lock too long. Retry later. */
  "store_busy",
  /** The file or the database is read-only. */
  "store_read_only",
  /** No space is left. Reads still work. */
  "store_full",
  /** Stored data is damaged, or the file is not a database. It is never overwritten. */
  "store_corrupt",
  /** The database belongs to another program. */
  "foreign_database",
  /** The database server does not answer, or refuses us. */
  "store_unavailable",
  /** The location, as a network file system, or the runtime, without SQLite, cannot hold a store. */
  "unsupported_storage",
  /** A newer version wrote the store, and excludes this one. */
  "schema_too_new",
  /** The store is of an older version, and a reader never migrates. */
  "needs_migration",
  /** The store was written by a development version before the first release, and is not migrated. */
  "schema_too_old",
  /** The target of a restore or a copy is not empty. */
  "store_not_empty",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The same call may succeed later, without a change by its caller. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "model_failed",
  "rate_limited",
  "request_timeout",
  "store_busy",
  "store_unavailable",
]);

export function isRetryable(code: ErrorCode): boolean {
  return RETRYABLE.has(code);
}

/** Machine-readable details, safe to show to a caller: ids, limits, versions. Never content. */
export interface ErrorDetails {
  readonly [key: string]: string | number | boolean;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The only error class that Backscroll throws on purpose. Any other error that escapes is a bug.
 */
export class BackscrollError extends Error {
  override readonly name = "BackscrollError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly details?: ErrorDetails; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  /** Whether the same call may succeed later; `details.retryAfterMs` is the delay, if known. */
  get retryable(): boolean {
    return isRetryable(this.code);
  }

  /** The place in the package's documentation that explains the code. */
  get documentation(): string {
    return `docs/errors.md#${this.code}`;
  }

  /** `JSON.stringify` leaves out the message of other errors. */
  toJSON(): {
    readonly name: string;
    readonly code: ErrorCode;
    readonly message: string;
    readonly retryable: boolean;
    readonly details: ErrorDetails;
    readonly documentation: string;
  } {
    const { name, code, message, retryable, details, documentation } = this;
    return { name, code, message, retryable, details, documentation };
  }

  /** Compares by name, so that it also holds between two installed copies of the package. */
  static is(value: unknown, code?: ErrorCode): value is BackscrollError {
    if (!(value instanceof Error) || value.name !== "BackscrollError") return false;
    return code === undefined || (value as BackscrollError).code === code;
  }
}

/** The result of `work`; undefined if it fails with `code`, as where something was deleted meanwhile. */
export async function ignoring<Result>(
  code: ErrorCode,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!BackscrollError.is(error, code)) throw error;
    return undefined;
  }
}
