/**
 * Every operation of the port as a synchronous function of a connection.
 *
 * A storage thread calls them by name from the tables below.
 */

import type { StoreReads, StoreWrites } from "../../store.ts";
import { indexLag } from "../index/manifest.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { checkStillReadable } from "../sqlite-schema.ts";
import * as append from "./append.ts";
import * as deleteSession from "./delete-session.ts";
import * as eraseContent from "./erase-content.ts";
import * as feed from "./feed.ts";
import * as fork from "./fork.ts";
import * as leases from "./leases.ts";
import * as listSessions from "./list-sessions.ts";
import { findToken, PROGRAMS } from "./programs.ts";
import * as purgeDeleted from "./purge-deleted.ts";
import * as readEntries from "./read-entries.ts";
import * as sessions from "./sessions.ts";
import * as status from "./status.ts";
import { usableIndexStatus } from "./status.ts";
import * as streams from "./streams.ts";
import * as sweep from "./sweep.ts";

/** The port's writes, and those of this backend alone. */
export interface SqliteWrites extends StoreWrites {
  purgeBatch(tenant: string): Promise<boolean>;
}

export interface SqliteReads extends StoreReads {
  dataVersion(): Promise<number>;
  indexLag(tenant: string): Promise<number>;
  hasDeleted(tenant: string): Promise<boolean>;
}

export type WriteName = keyof SqliteWrites;
export type ReadName = keyof SqliteReads;

/** The port's method with a connection in front and without the promise. */
type Operations<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (db: SqliteConnection, ...args: Args) => Result
    : never;
};

const OPERATIONS: Operations<SqliteWrites & SqliteReads> = {
  ...append,
  ...deleteSession,
  ...eraseContent,
  ...feed,
  ...fork,
  ...leases,
  ...listSessions,
  ...purgeDeleted,
  ...readEntries,
  ...sessions,
  ...status,
  ...streams,
  ...sweep,
  ...PROGRAMS,
  findToken,
  indexStatus: usableIndexStatus,
  indexLag,
};

/** Calls a read by name, in one snapshot. */
export function callRead(db: SqliteConnection, name: ReadName, args: readonly unknown[]): unknown {
  return inSnapshot(db, () => callOperation(OPERATIONS[name], db, args));
}

/** Calls a write by name, within the caller's transaction. */
export function callWrite(
  db: SqliteConnection,
  name: WriteName,
  args: readonly unknown[],
): unknown {
  return callOperation(OPERATIONS[name], db, args);
}

export function inSnapshot<Result>(db: SqliteConnection, read: () => Result): Result {
  db.run("BEGIN");
  try {
    checkForeignMigration(db);
    return read();
  } finally {
    if (db.handle.isTransaction) endRead(db);
  }
}

/** Another process may have migrated the store to a version that this code would misread. */
function checkForeignMigration(db: SqliteConnection): void {
  const version = db.dataVersion();
  if (version === db.seenVersion) return;
  checkStillReadable(db);
  db.seenVersion = version;
}

/** In a damaged file even the COMMIT of a read may fail; the answer stands. */
export function endRead(db: SqliteConnection): void {
  try {
    db.commit();
  } catch {
    db.rollback();
  }
}

/** The arguments crossed a thread as a list: `Executor` has checked their types. */
function callOperation(
  operation: unknown,
  db: SqliteConnection,
  args: readonly unknown[],
): unknown {
  return (operation as (db: SqliteConnection, ...args: readonly unknown[]) => unknown)(db, ...args);
}
