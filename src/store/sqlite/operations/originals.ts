/** The original bytes of ingested files, in compressed parts. */

import { REMOVED_KEY } from "../../../model/session.ts";
import type { Original, OriginalQuery, OriginalUpdate } from "../../ingested-file.ts";
import { ORIGINAL_COLUMNS, toOriginal } from "../../rows/original-row.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant } from "./feed.ts";
import { sessionNumber } from "./sessions.ts";

/** The originals of session ?2 of tenant ?1. */
const OF_SESSION = `(workstation, path) IN (SELECT workstation, path FROM original_sessions
    WHERE tenant = ?1 AND session = ?2)`;

const SQL = statements("originals", {
  isErased: `SELECT 1 AS found FROM sessions WHERE tenant = ? AND session = ?
    AND (retention <> 'full' OR instr(CAST(metadata AS TEXT), '"${REMOVED_KEY}":') > 0)`,
  put: `INSERT INTO originals (tenant, workstation, path, source, reader, size, mtime)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, workstation, path) DO UPDATE SET
      source = excluded.source, reader = excluded.reader, size = excluded.size,
      mtime = excluded.mtime`,
  dropParts: `DELETE FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? AND start >= ?`,
  putPart: `INSERT INTO original_parts (tenant, workstation, path, start, size, bytes)
    VALUES (?, ?, ?, ?, ?, ?)`,
  putSession: `INSERT INTO original_sessions (tenant, session, workstation, path)
    VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  list: `SELECT ${ORIGINAL_COLUMNS} FROM originals o WHERE o.tenant = ?1
      AND (?2 IS NULL OR o.workstation = ?2) AND (?3 IS NULL OR o.path = ?3)
      AND (?4 IS NULL OR (o.workstation, o.path) > (?4, ?5))
    ORDER BY o.workstation, o.path LIMIT ?6`,
  listOfSession: `SELECT ${ORIGINAL_COLUMNS} FROM original_sessions l
    JOIN originals o ON o.tenant = l.tenant AND o.workstation = l.workstation AND o.path = l.path
    WHERE l.tenant = ?1 AND l.session = ?7
      AND (?2 IS NULL OR o.workstation = ?2) AND (?3 IS NULL OR o.path = ?3)
      AND (?4 IS NULL OR (o.workstation, o.path) > (?4, ?5))
    ORDER BY o.workstation, o.path LIMIT ?6`,
  parts: `SELECT start, size FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? ORDER BY start`,
  sessions: `SELECT s.id FROM original_sessions l
    JOIN sessions s ON s.tenant = l.tenant AND s.session = l.session
    WHERE l.tenant = ? AND l.workstation = ? AND l.path = ? ORDER BY s.id`,
  part: `SELECT bytes FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? AND start = ?`,
  forgetParts: `DELETE FROM original_parts WHERE tenant = ?1 AND ${OF_SESSION}`,
  forgetOriginals: `DELETE FROM originals WHERE tenant = ?1 AND ${OF_SESSION}`,
  unlink: `DELETE FROM original_sessions WHERE tenant = ? AND session = ?`,
  forgetSessions: `DELETE FROM original_sessions WHERE tenant = ?1 AND ${OF_SESSION}`,
});

export function putOriginal(
  db: SqliteConnection,
  name: string,
  workstation: string,
  update: OriginalUpdate,
  now: number,
): boolean {
  const tenant = ensureTenant(db, name, now);
  const { path, source, reader, size, mtimeUs, from, parts } = update;
  const sessions = update.sessionIds.map((id) => sessionNumber(db, tenant, id));
  if (sessions.some((session) => db.get(SQL.isErased, tenant, session) !== undefined)) {
    for (const session of sessions) dropOriginals(db, tenant, session);
    return false;
  }
  db.run(SQL.put, tenant, workstation, path, source, reader, size, mtimeUs);
  db.run(SQL.dropParts, tenant, workstation, path, from);
  for (const part of parts) {
    db.run(SQL.putPart, tenant, workstation, path, part.start, part.size, part.bytes);
  }
  for (const session of sessions) db.run(SQL.putSession, tenant, session, workstation, path);
  return true;
}

export function listOriginals(
  db: SqliteConnection,
  name: string,
  { workstation, path, sessionId, after, limit }: OriginalQuery,
): Original[] {
  const tenant = findTenant(db, name);
  const session = sessionId === undefined ? undefined : sessionNumber(db, tenant, sessionId);
  if (tenant === undefined) return [];
  const values = [
    tenant,
    workstation ?? null,
    path ?? null,
    after?.workstation ?? null,
    after?.path ?? null,
    limit,
  ];
  const rows =
    session === undefined
      ? db.all(SQL.list, ...values)
      : db.all(SQL.listOfSession, ...values, session);
  return rows.map((row) => withParts(db, tenant, row));
}

function withParts(db: SqliteConnection, tenant: number, row: SqlRow): Original {
  const key = [tenant, row["workstation"] as string, row["path"] as string] as const;
  return toOriginal(row, db.all(SQL.parts, ...key), db.all(SQL.sessions, ...key));
}

export function readOriginalPart(
  db: SqliteConnection,
  name: string,
  workstation: string,
  path: string,
  start: number,
): Uint8Array | undefined {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return undefined;
  return db.get(SQL.part, tenant, workstation, path, start)?.["bytes"] as Uint8Array | undefined;
}

/** Drops the bytes of all sessions of a shared file: they cannot be separated. */
export function dropOriginals(db: SqliteConnection, tenant: number, session: number): void {
  db.run(SQL.forgetParts, tenant, session);
  db.run(SQL.forgetOriginals, tenant, session);
  db.run(SQL.forgetSessions, tenant, session);
}

/** The bytes stay for a later import of the session. */
export function unlinkOriginals(db: SqliteConnection, tenant: number, session: number): void {
  db.run(SQL.unlink, tenant, session);
}
