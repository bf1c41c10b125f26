/** Failures of the store, as opposed to those of a file. */

import { BackscrollError, type ErrorCode } from "../model/errors.ts";

/** Failures that every other file would meet too. */
const STORE_FAILURES: readonly ErrorCode[] = [
  "store_closed",
  "store_busy",
  "store_unavailable",
  "store_read_only",
  "store_full",
  "quota_exceeded",
  "store_corrupt",
  "schema_too_new",
  "needs_migration",
  "schema_too_old",
  "foreign_database",
  "unsupported_storage",
  "unauthorized",
  "forbidden",
  "rate_limited",
];

export function isStoreFailure(error: unknown): boolean {
  return BackscrollError.is(error) && STORE_FAILURES.includes(error.code);
}
