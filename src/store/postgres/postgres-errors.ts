/** Maps PostgreSQL's and the network's error codes to ours. */

import { BackscrollError, type ErrorCode } from "../../model/errors.ts";
import { checkQuota } from "../store-errors.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A loss before COMMIT is retried a few times; the outcome of a COMMIT that was sent is unknown. */
const CUT_OFF: Meaning = {
  code: "store_unavailable",
  message:
    "the connection to the database was lost or refused; try again, a write under its idempotency key: it may have been committed",
};

const CONFLICT: Meaning = {
  code: "store_busy",
  message: "other transactions change the same rows; try again",
};

const REFUSED_USER: Meaning = {
  code: "store_unavailable",
  message: "the database server refuses this user; check the user name and pg_hba.conf",
};

/** SQLSTATEs that say more than their class. */
const CODES: Readonly<Record<string, Meaning>> = {
  "25006": {
    code: "store_read_only",
    message: "the database may only be read; connect to the primary server, not to a replica",
  },
  "25P03": {
    code: "store_unavailable",
    message: "the transaction was idle too long and the database server ended it; try again",
  },
  "25P04": {
    code: "store_unavailable",
    message: "the transaction took too long and the database server ended it; try again",
  },
  "28P01": {
    code: "store_unavailable",
    message: "the database server refuses this user or password; check both",
  },
  "40003": CUT_OFF,
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

/** No failure: the server reports success, a notice or the end of rows under these. */
const NO_FAILURE = "no failure";
/**
 * A statement of ours is wrong, or the data contradicts it. No caller can act on it: it passes as
 * it is and becomes `internal_error`.
 */
const OUR_MISTAKE = "our mistake";

/** Every class of Appendix A of PostgreSQL's manual: the first two characters of a SQLSTATE. */
export const CLASSES: Readonly<Record<string, Meaning | typeof NO_FAILURE | typeof OUR_MISTAKE>> = {
  "00": NO_FAILURE,
  "01": NO_FAILURE,
  "02": NO_FAILURE,
  "03": OUR_MISTAKE,
  /** Connection exceptions. An ERROR under 08P01 is a message of ours that breaks the protocol. */
  "08": CUT_OFF,
  "09": OUR_MISTAKE,
  "0A": OUR_MISTAKE,
  "0B": OUR_MISTAKE,
  "0F": OUR_MISTAKE,
  "0L": OUR_MISTAKE,
  "0P": OUR_MISTAKE,
  "0Z": OUR_MISTAKE,
  "10": OUR_MISTAKE,
  "20": OUR_MISTAKE,
  "21": OUR_MISTAKE,
  "22": OUR_MISTAKE,
  /** Constraints: the store acts on those that it expects. */
  "23": OUR_MISTAKE,
  "24": OUR_MISTAKE,
  "25": OUR_MISTAKE,
  /** Unknown prepared statements: the transaction is repeated without names. */
  "26": OUR_MISTAKE,
  "27": OUR_MISTAKE,
  "28": REFUSED_USER,
  "2B": OUR_MISTAKE,
  "2D": OUR_MISTAKE,
  "2F": OUR_MISTAKE,
  "34": OUR_MISTAKE,
  "38": OUR_MISTAKE,
  "39": OUR_MISTAKE,
  "3B": OUR_MISTAKE,
  "3D": {
    code: "store_not_found",
    message: "the database does not exist on this server; create it (createdb NAME)",
  },
  "3F": OUR_MISTAKE,
  "40": CONFLICT,
  "42": OUR_MISTAKE,
  "44": OUR_MISTAKE,
  "53": {
    code: "store_busy",
    message: "the database server lacks memory or another resource; try again later",
  },
  "54": OUR_MISTAKE,
  "55": OUR_MISTAKE,
  /** Operator intervention: shutdowns, crashes, dropped databases. */
  "57": CUT_OFF,
  "58": {
    code: "store_unavailable",
    message: "the database server's system has failed; its log has the cause",
  },
  /** A snapshot that is too old; PostgreSQL up to 16. */
  "72": CONFLICT,
  F0: OUR_MISTAKE,
  HV: OUR_MISTAKE,
  P0: OUR_MISTAKE,
  XX: OUR_MISTAKE,
};

/** The fields of a server's error that decide about its meaning. */
interface ServerError {
  readonly code: string;
  /** `FATAL` and `PANIC` end the connection. Poolers send the same. */
  readonly severity: string | undefined;
}

/** Whether the server, or a pooler before it, ended the connection with this error. */
function endsConnection({ severity }: Pick<ServerError, "severity">): boolean {
  return severity === "FATAL" || severity === "PANIC";
}

/** Undefined: no caller can act on it. */
function meaningOf(error: ServerError): Meaning | undefined {
  const known = CODES[error.code];
  if (known !== undefined) return known;
  const isLoss = endsConnection(error);
  if (error.code === "08P01" && !isLoss) return undefined;
  const ofClass = CLASSES[error.code.slice(0, 2)];
  if (typeof ofClass === "object") return ofClass;
  // Poolers end connections under SQLSTATEs of any class.
  return isLoss ? CUT_OFF : undefined;
}

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
