/** Maps PostgreSQL's and the network's error codes to ours. */

import { BackscrollError } from "../../model/errors.ts";
import { checkQuota } from "../store-errors.ts";
import { CUT_OFF, endsConnection, type Meaning, meaningOf } from "./sqlstates.ts";

/** Raised by `backscroll_write_feed` when a quota is exceeded. */
const QUOTA = "QUOTA";

/** Errors of the network, and of `pg` when a connection breaks: they have no SQLSTATE. */
const NETWORK_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused; check host and port, and that the server runs",
  ENOTFOUND: "there is no such host; check its name",
  EAI_AGAIN: "the host's name cannot be looked up now; check the network",
  EHOSTUNREACH: "the host cannot be reached; check the network",
  ENETUNREACH: "the network cannot be reached; check it",
  ENETDOWN: "the network is down; check it",
  EHOSTDOWN: "the host is down; check it",
  ETIMEDOUT: "the server does not answer; check host, port and firewall",
  ECONNRESET: CUT_OFF.message,
  ECONNABORTED: CUT_OFF.message,
  EPIPE: CUT_OFF.message,
  ERR_STREAM_DESTROYED: CUT_OFF.message,
  ERR_STREAM_WRITE_AFTER_END: CUT_OFF.message,
};

/** Errors of connecting to the socket file of a server on this machine. */
const SOCKET_CODES: Readonly<Record<string, string>> = {
  ENOENT: "there is no socket at this path; check the path, and that the server runs",
  EACCES: "the socket may not be used; check its permissions",
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
  const code = codeOf(error) ?? "";
  if (code === QUOTA) return quotaError(error);
  const severity = severityOf(error);
  const known = isNumberTaken(error) ? NUMBER_TAKEN : meaningOf({ code, severity });
  if (known !== undefined) {
    // Why the server or a pooler ended the connection is in its own words only.
    const where = known === CUT_OFF && endsConnection({ severity }) ? `: ${error.message}` : "";
    return new BackscrollError(known.code, `${known.message} (${place}${where})`, {
      details: { sqlstate: code, address: place },
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
  if (LOST.includes(code) || CUT.test(error.message)) return true;
  return isFatal(error) && meaningOf({ code, severity: severityOf(error) }) === CUT_OFF;
}

/** Whether the server, or a pooler before it, ended the connection with this error. */
export function isFatal(error: unknown): boolean {
  return error instanceof Error && endsConnection({ severity: severityOf(error) });
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

/** Codes of a broken connection. */
const LOST: readonly string[] = Object.entries(NETWORK_CODES)
  .filter(([, reason]) => reason === CUT_OFF.message)
  .map(([code]) => code)
  .concat("57P01", "57P02");
/** Messages of `pg` for a broken connection. */
const CUT = /^Connection terminated( unexpectedly)?$|not queryable$/;

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function severityOf(error: Error): string | undefined {
  return "severity" in error && typeof error.severity === "string" ? error.severity : undefined;
}

function networkReason(error: Error): string | undefined {
  const code = codeOf(error) ?? "";
  const isConnecting = "syscall" in error && error.syscall === "connect";
  const reason = NETWORK_CODES[code] ?? (isConnecting ? SOCKET_CODES[code] : undefined);
  if (reason !== undefined) return reason;
  if (/timeout/i.test(error.message)) return NETWORK_CODES["ETIMEDOUT"];
  if (CUT.test(error.message)) return CUT_OFF.message;
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
