/** What each SQLSTATE of PostgreSQL, and of a pooler before it, means to a caller. */

import type { ErrorCode } from "../../model/errors.ts";

export interface Meaning {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A loss before COMMIT is retried a few times; the outcome of a COMMIT that was sent is unknown. */
export const CUT_OFF: Meaning = {
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
export interface ServerError {
  readonly code: string;
  /** `FATAL` and `PANIC` end the connection. Poolers send the same. */
  readonly severity: string | undefined;
}

/** Whether the server, or a pooler before it, ended the connection with this error. */
export function endsConnection({ severity }: Pick<ServerError, "severity">): boolean {
  return severity === "FATAL" || severity === "PANIC";
}

/** Undefined: no caller can act on it. */
export function meaningOf(error: ServerError): Meaning | undefined {
  const known = CODES[error.code];
  if (known !== undefined) return known;
  const isLoss = endsConnection(error);
  if (error.code === "08P01" && !isLoss) return undefined;
  const ofClass = CLASSES[error.code.slice(0, 2)];
  if (typeof ofClass === "object") return ofClass;
  // Poolers end connections under SQLSTATEs of any class.
  return isLoss ? CUT_OFF : undefined;
}
