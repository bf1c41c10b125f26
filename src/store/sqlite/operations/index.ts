/**
 * Every operation of the port as a synchronous function of a connection.
 *
 * A storage thread calls them by name from the tables below.
 */

import type { StoreReads, StoreWrites } from "../../store.ts";
import { indexLag } from "../index/manifest.ts";
import { readRecords, writeRecords } from "../records/records.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { checkStillReadable } from "../sqlite-schema.ts";
import { append, moveLeaf, setPinned } from "./append.ts";
import { deleteSession, findTombstone, findTombstoneByOrigin } from "./delete-session.ts";
import { eraseContent, listRetentionDue } from "./erase-content.ts";
import { feedHead, listChanges, listTenants, noteAct, setQuota } from "./feed.ts";
import { forkSession } from "./fork.ts";
import { usableIndexStatus } from "./index-status.ts";
import { findIngestedFiles, putIngestedFiles } from "./ingested-files.ts";
import { dropLease, takeLease } from "./leases.ts";
import { listSessions } from "./list-sessions.ts";
import {
  addFacts,
  deleteMemory,
  findFact,
  findMemory,
  listFacts,
  listMemories,
  putMemory,
  retireFact,
} from "./notes.ts";
import { listOriginals, putOriginal, readOriginalPart } from "./originals.ts";
import { hasDeleted, purgeBatch } from "./purge-deleted.ts";
import { findEntries, findUsage, listLeaves, readEntries } from "./read-entries.ts";
import {
  deleteRoute,
  findRoute,
  listRouteSessions,
  listRoutes,
  listSessionRoutes,
  patchRoute,
  putRoute,
} from "./routes.ts";
import {
  countModels,
  createSession,
  findSession,
  findSessionByOrigin,
  findSessionRefs,
  readSessionSizes,
  readUsage,
  updateSession,
} from "./sessions.ts";
import { checkIntegrity, dataVersion, status } from "./status.ts";
import { abortStream, commitStream, findPending, openStream, writeStream } from "./streams.ts";
import { sweep } from "./sweep.ts";
import { createToken, findToken, listTokens, revokeToken } from "./tokens.ts";

/** The port's method with a connection in front and without the promise. */
type Operations<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (db: SqliteConnection, ...args: Args) => Result
    : never;
};

export const WRITES: Operations<StoreWrites> & {
  readonly purgeBatch: (db: SqliteConnection, tenant: string) => boolean;
} = {
  createSession,
  updateSession,
  deleteSession,
  purgeBatch,
  append,
  moveLeaf,
  setPinned,
  forkSession,
  eraseContent,
  openStream,
  writeStream,
  commitStream,
  abortStream,
  putMemory,
  deleteMemory,
  addFacts,
  retireFact,
  writeRecords,
  putIngestedFiles,
  putOriginal,
  setQuota,
  noteAct,
  createToken,
  revokeToken,
  putRoute,
  patchRoute,
  deleteRoute,
  takeLease,
  dropLease,
  sweep,
};

export const READS: Operations<StoreReads> & {
  readonly dataVersion: (db: SqliteConnection) => number;
  readonly indexLag: (db: SqliteConnection, tenant: string) => number;
  readonly hasDeleted: (db: SqliteConnection, tenant: string) => boolean;
} = {
  findSession,
  findSessionByOrigin,
  findSessionRefs,
  readSessionSizes,
  readUsage,
  countModels,
  listSessions,
  findTombstone,
  findTombstoneByOrigin,
  findIngestedFiles,
  listOriginals,
  readOriginalPart,
  readEntries,
  findEntries,
  findUsage,
  findPending,
  listLeaves,
  listRetentionDue,
  findMemory,
  listMemories,
  findFact,
  listFacts,
  readRecords,
  findToken,
  listTokens,
  findRoute,
  listRoutes,
  listRouteSessions,
  listSessionRoutes,
  feedHead,
  listChanges,
  listTenants,
  status,
  checkIntegrity,
  indexStatus: usableIndexStatus,
  indexLag,
  hasDeleted,
  dataVersion,
};

export type WriteName = keyof typeof WRITES;
export type ReadName = keyof typeof READS;

/** Calls a read by name, in one snapshot. */
export function callRead(db: SqliteConnection, name: ReadName, args: readonly unknown[]): unknown {
  return inSnapshot(db, () => callOperation(READS[name], db, args));
}

/** Calls a write by name, within the caller's transaction. */
export function callWrite(
  db: SqliteConnection,
  name: WriteName,
  args: readonly unknown[],
): unknown {
  return callOperation(WRITES[name], db, args);
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
