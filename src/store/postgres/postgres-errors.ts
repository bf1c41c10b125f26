/** Maps PostgreSQL's and the network's error codes to ours. */

import { BackscrollError, type ErrorCode } from "../../model/errors.ts";
import { checkQuota } from "../store-errors.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Raised by `backscroll_write_feed` when a quota is exceeded. */
const QUOTA = "QUOTA";

/** Failures before COMMIT are retried: this one happened at COMMIT. */
const CUT_OFF =
  "the connection was lost; a write may have been committed: check, or retry it under its idempotency key";

/** SQLSTATEs that a caller can act on. */
const SQLSTATES: Readonly<Record<string, Meaning>> = {
  "25006": {
    code: "store_read_only",
    message: "the database may only be read; connect to the primary server, not to a replica",
  },
  "25P03": {
    code: "store_unavailable",
    message: "the transaction was idle too long and the database server ended it; try again",
  },
  "28000": {
    code: "store_unavailable",
    message: "the database server refuses this user; check the user name and pg_hba.conf",
  },
  "28P01": {
    code: "store_unavailable",
    message: "the database server refuses this user or password; check both",
  },
  "3D000": {
    code: "store_not_found",
    message: "the database does not exist on this server; create it (createdb NAME)",
  },
  "40001": { code: "store_busy", message: "other transactions change the same rows; try again" },
  "40P01": { code: "store_busy", message: "deadlock with other transactions; try again" },
  "42501": {
    code: "store_unavailable",
    message: "the database user lacks a privilege; grant it SELECT, INSERT, UPDATE and DELETE",
  },
  "53100": {
    code: "store_full",
    message: "no space is left on the database server; free some and try again: reads still work",
  },
  "53300": {
    code: "store_busy",
    message: "the database server has no connection left; try again, or raise max_connections",
  },
  "55P03": {
    code: "store_busy",
    message: "another transaction has held a lock too long; try again later",
  },
  "57014": { code: "store_busy", message: "a statement took too long and was ended; try again" },
  "57P01": { code: "store_unavailable", message: CUT_OFF },
  "57P02": { code: "store_unavailable", message: CUT_OFF },
  "57P03": {
    code: "store_unavailable",
    message: "the database server is starting or stopping; try again",
  },
  XX001: {
    code: "store_corrupt",
    message: "the database server has found damaged data; restore a backup",
  },
  XX002: {
    code: "store_corrupt",
    message: "the database server has found a damaged index; rebuild it (REINDEX DATABASE)",
  },
};

/** Errors of the network, and of `pg` when a connection breaks: they have no SQLSTATE. */
const NETWORK_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused; check host and port, and that the server runs",
  ENOTFOUND: "there is no such host; check its name",
  EAI_AGAIN: "the host's name cannot be looked up now; check the network",
  EHOSTUNREACH: "the host cannot be reached; check the network",
  ENETUNREACH: "the network cannot be reached; check it",
  ETIMEDOUT: "the server does not answer; check host, port and firewall",
  ECONNRESET: CUT_OFF,
  EPIPE: CUT_OFF,
};

const NUMBER_TAKEN: Meaning = {
  code: "store_corrupt",
  message:
    "the database is damaged: a number that the store assigns exists already; restore a backup",
};

/** Numbers assigned only by the store, under a lock: a duplicate means a wrong counter. */
function isNumberTaken(error: Error): boolean {
  const constraint = "constraint" in error ? String(error.constraint) : "";
  return codeOf(error) === "23505" && /^(entries|chains|changes)(_.*)?_pkey$/.test(constraint);
}

/** `place` is the address without its password. Unknown errors pass unchanged. */
export function translatePostgresError(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || BackscrollError.is(error)) return error;
  const code = codeOf(error);
  if (code === QUOTA) return quotaError(error);
  const known = isNumberTaken(error) ? NUMBER_TAKEN : SQLSTATES[code ?? ""];
  if (known !== undefined) {
    return new BackscrollError(known.code, `${known.message} (${place})`, {
      details: { sqlstate: code ?? "", address: place },
      cause: error,
    });
  }
  const reason = networkReason(error);
  if (reason === undefined) return error;
  return new BackscrollError("store_unavailable", `cannot use ${place}: ${reason}`, {
    details: { address: place },
    cause: error,
  });
}

/**
 * Whether a retry of the transaction may succeed: it conflicted with another one and was rolled
 * back. A payload that a sweep deleted meanwhile violates a foreign key; the first writes of two
 * tenants may choose the same number.
 */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const constraint = "constraint" in error ? error.constraint : undefined;
  switch (codeOf(error)) {
    case "40001":
    case "40P01":
      return true;
    // The retry sends unnamed statements.
    case "26000":
    case "42P05":
      return true;
    case "23503":
      return constraint === "entry_blobs_hold";
    case "23505":
      return constraint === "tenants_pkey";
    default:
      return false;
  }
}

/** Whether an entry's id is taken in the tenant. */
export function isEntryTaken(error: unknown): boolean {
  if (!(error instanceof Error) || codeOf(error) !== "23505") return false;
  return "constraint" in error && error.constraint === "entries_by_id";
}

/** Whether a statement hit `lock_timeout` or `statement_timeout`. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && ["55P03", "57014"].includes(codeOf(error) ?? "");
}

/** Whether a prepared statement's name is unknown, or taken by another one. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof Error && ["26000", "42P05"].includes(codeOf(error) ?? "");
}

/** Whether an established connection broke; a failed connect does not count. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error) ?? "";
  return ["ECONNRESET", "EPIPE", "57P01", "57P02"].includes(code) || CUT.test(error.message);
}

/** The transaction runs on a server other than the one in use. */
export class ServerChanged extends Error {
  constructor() {
    super("the transaction began on another server; nothing of it was committed");
  }
}

/** Whether the server is not the expected one: replaced, demoted, starting or a standby. */
export function isOtherServer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof ServerChanged || ["25006", "57P03"].includes(codeOf(error) ?? "");
}

/** Messages of `pg` for a broken connection. */
const CUT = /^Connection terminated( unexpectedly)?$|not queryable$/;

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function networkReason(error: Error): string | undefined {
  const reason = NETWORK_CODES[codeOf(error) ?? ""];
  if (reason !== undefined) return reason;
  if (/timeout/i.test(error.message)) return NETWORK_CODES["ETIMEDOUT"];
  if (CUT.test(error.message)) return CUT_OFF;
  if (/SSL|certificate/i.test(error.message)) return `${error.message}; check sslmode`;
  return undefined;
}

/** The database function names the exceeded quota. */
function quotaError(error: Error): unknown {
  try {
    const { field, limit, used, added } = JSON.parse(
      (error as Error & { detail: string }).detail,
    ) as { field: string; limit: number; used: number; added: number };
    checkQuota(field, limit, used, added);
  } catch (quota) {
    return quota;
  }
  return error;
}
