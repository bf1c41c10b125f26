/** Maps SQLite's result codes to ours. */

import { BackscrollError, type ErrorCode } from "../../model/errors.ts";

/** SQLite's primary result codes that a caller can act on. */
const CODES: Readonly<Record<number, { code: ErrorCode; message: string }>> = {
  3: {
    code: "store_read_only",
    message: "the database file may not be accessed; check its owner and permissions",
  },
  5: { code: "store_busy", message: "another process holds the database's lock; try again" },
  6: { code: "store_busy", message: "another connection holds a lock in the database; try again" },
  8: {
    code: "store_read_only",
    message: "the database may only be read; check the permissions of its file and folder",
  },
  10: {
    code: "store_unavailable",
    message: "reading or writing the database file failed; check the disk",
  },
  11: {
    code: "store_corrupt",
    message:
      "the database file is damaged; it was left as it is: restore a backup, or copy it and try `sqlite3 FILE .recover`",
  },
  13: {
    code: "store_full",
    message:
      "no space is left for the database: reads still work; make room as docs/store.md says (A full disk), and try again",
  },
  14: {
    code: "store_unavailable",
    message: "the database file cannot be opened; check that its folder exists and may be written",
  },
  26: {
    code: "store_corrupt",
    message:
      "the file is not a database, or is damaged; it was left as it is: choose another path, or restore a backup",
  },
};

const SQLITE_ERROR = 1;
const SQLITE_CORRUPT = 11;

/** SQLITE_CONSTRAINT_FOREIGNKEY: the blob was deleted between our read and our reference. */
const FOREIGN_KEY = 787;

/** SQLite's messages for our statements if the schema differs from that of its version. */
const OTHER_SCHEMA =
  /^(no such (table|column|index|view|collation)|malformed|no query solution)|has no column/;

/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const NOT_UNIQUE: ReadonlySet<number> = new Set([2067, 1555]);

/**
 * Numbers assigned only by the store, under the writer's lock: a duplicate means a wrong counter.
 */
const OWN_NUMBERS = /\b(entries\.sequence|chains\.chain|changes\.position)$/;

/** Gives a coded error for a SQLite error; other values pass unchanged. */
export function translateSqliteError(error: unknown): unknown {
  const errcode = errcodeOf(error);
  if (errcode === undefined)
    return isOutOfRange(error) ? damaged("a stored integer is out of range", error) : error;
  const { message } = error as Error;
  if (errcode === SQLITE_ERROR && OTHER_SCHEMA.test(message)) {
    return damaged(`its schema does not match its version (${message})`, error);
  }
  if (NOT_UNIQUE.has(errcode) && OWN_NUMBERS.test(message)) {
    return damaged(`a number that the store assigns exists already (${message})`, error);
  }
  const known = CODES[errcode & 0xff];
  if (known === undefined) return error;
  return new BackscrollError(known.code, known.message, {
    cause: error,
    details: { sqlite: errcode },
  });
}

export function isBusy(error: unknown): boolean {
  return BackscrollError.is(error, "store_busy") && error.details["sqlite"] !== undefined;
}

/** Whether an entry has an id that another one of the tenant has. */
export function isEntryTaken(error: unknown): boolean {
  const errcode = errcodeOf(error);
  return (
    errcode !== undefined &&
    NOT_UNIQUE.has(errcode) &&
    (error as Error).message.endsWith("entries.tenant, entries.id")
  );
}

export function isForeignKeyFailure(error: unknown): boolean {
  return errcodeOf(error) === FOREIGN_KEY;
}

/** Our numbers are exact in JavaScript; the driver throws this for others. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";
}

function damaged(what: string, cause: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `the database file is damaged: ${what}; it was left as it is: restore a backup`,
    { cause, details: { sqlite: SQLITE_CORRUPT } },
  );
}

function errcodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
