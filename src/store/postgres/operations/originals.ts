/** The original bytes of ingested files, in compressed parts. */

import { REMOVED_KEY } from "../../../model/session.ts";
import type { Original, OriginalQuery, OriginalUpdate } from "../../ingested-file.ts";
import type { Row } from "../../records.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import { ORIGINAL_COLUMNS, toOriginal } from "../../rows/original-row.ts";
import { sessionNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant } from "./feed.ts";

/** The originals of session $2 of tenant $1. */
const OF_SESSION = `(workstation, path) IN (SELECT l.workstation, l.path FROM original_sessions l
    WHERE l.tenant = $1 AND l.session = $2)`;

const PAGE = `($2::text IS NULL OR o.workstation = $2) AND ($3::text IS NULL OR o.path = $3)
      AND ($4::text IS NULL OR (o.workstation, o.path) > ($4, $5::text))
    ORDER BY o.workstation, o.path LIMIT $6`;

const SQL = statements("originals", {
  /** Locked against a deletion, which locks the session's state. */
  lockSessions: `SELECT s.id, s.session, s.retention,
      (position('"${REMOVED_KEY}":'::bytea IN s.metadata) > 0)::int AS has_removed FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2::text[]) ORDER BY s.session FOR SHARE OF t`,
  findSession: `SELECT s.session FROM sessions s
    WHERE s.tenant = $1 AND s.id = $2 AND ${IS_THERE}`,
  put: `INSERT INTO originals (tenant, workstation, path, source, reader, size, mtime)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, workstation, path) DO UPDATE SET
      source = excluded.source, reader = excluded.reader, size = excluded.size,
      mtime = excluded.mtime`,
  dropParts: `DELETE FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 AND start >= $4`,
  putPart: `INSERT INTO original_parts (tenant, workstation, path, start, size, bytes)
    VALUES ($1, $2, $3, $4, $5, $6)`,
  putSession: `INSERT INTO original_sessions (tenant, session, workstation, path)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
  list: `SELECT ${ORIGINAL_COLUMNS} FROM originals o WHERE o.tenant = $1 AND ${PAGE}`,
  listOfSession: `SELECT ${ORIGINAL_COLUMNS} FROM original_sessions l
    JOIN originals o ON o.tenant = l.tenant AND o.workstation = l.workstation AND o.path = l.path
    WHERE l.tenant = $1 AND l.session = $7::bigint AND ${PAGE}`,
  parts: `SELECT start, size FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 ORDER BY start`,
  sessions: `SELECT s.id FROM original_sessions l
    JOIN sessions s ON s.tenant = l.tenant AND s.session = l.session
    WHERE l.tenant = $1 AND l.workstation = $2 AND l.path = $3 ORDER BY s.id`,
  part: `SELECT bytes FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 AND start = $4`,
  forgetParts: `DELETE FROM original_parts WHERE tenant = $1 AND ${OF_SESSION}`,
  forgetOriginals: `DELETE FROM originals WHERE tenant = $1 AND ${OF_SESSION}`,
  unlink: `DELETE FROM original_sessions WHERE tenant = $1 AND session = $2`,
  forgetSessions: `DELETE FROM original_sessions WHERE tenant = $1 AND ${OF_SESSION}`,
});

export async function putOriginal(
  tx: Transaction,
  workstation: string,
  update: OriginalUpdate,
  now: number,
): Promise<boolean> {
  await ensureTenant(tx, now);
  const { path, source, reader, size, mtimeUs, from, parts, sessionIds } = update;
  const found = await tx.all(SQL.lockSessions, tx.tenant, sessionIds);
  const missing = sessionIds.find((id) => !found.some((row) => row["id"] === id));
  if (missing !== undefined) throw sessionNotFound(missing);
  const sessions = found.map((row) => Number(row["session"]));
  const isErased = (row: Row) => row["retention"] !== "full" || row["has_removed"] === 1;
  if (found.some(isErased)) {
    for (const session of sessions) dropOriginals(tx, session);
    return false;
  }
  tx.defer(SQL.put, tx.tenant, workstation, path, source, reader, size, mtimeUs);
  tx.defer(SQL.dropParts, tx.tenant, workstation, path, from);
  for (const part of parts) {
    tx.defer(SQL.putPart, tx.tenant, workstation, path, part.start, part.size, part.bytes);
  }
  for (const session of sessions) {
    tx.defer(SQL.putSession, tx.tenant, session, workstation, path);
  }
  return true;
}

export async function listOriginals(
  tx: Transaction,
  { workstation, path, sessionId, after, limit }: OriginalQuery,
): Promise<Original[]> {
  const values = [
    tx.tenant,
    workstation ?? null,
    path ?? null,
    after?.workstation ?? null,
    after?.path ?? null,
    limit,
  ];
  if (sessionId === undefined) return withParts(tx, await tx.all(SQL.list, ...values));
  const session = await tx.get(SQL.findSession, tx.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  return withParts(tx, await tx.all(SQL.listOfSession, ...values, Number(session["session"])));
}

async function withParts(tx: Transaction, rows: readonly Row[]): Promise<Original[]> {
  const queries = rows.flatMap((row) => {
    const key = [tx.tenant, String(row["workstation"]), String(row["path"])] as const;
    return [query(SQL.parts, ...key), query(SQL.sessions, ...key)];
  });
  const answers = queries.length === 0 ? [] : await tx.together(queries);
  return rows.map((row, i) => toOriginal(row, answers[2 * i] ?? [], answers[2 * i + 1] ?? []));
}

export async function readOriginalPart(
  tx: Transaction,
  workstation: string,
  path: string,
  start: number,
): Promise<Uint8Array | undefined> {
  const row = await tx.get(SQL.part, tx.tenant, workstation, path, start);
  return row?.["bytes"] as Uint8Array | undefined;
}

/** Drops the bytes of all sessions of a shared file: they cannot be separated. */
export function dropOriginals(tx: Transaction, session: number): void {
  tx.defer(SQL.forgetParts, tx.tenant, session);
  tx.defer(SQL.forgetOriginals, tx.tenant, session);
  tx.defer(SQL.forgetSessions, tx.tenant, session);
}

/** The bytes stay for a later import of the session. */
export function unlinkOriginals(tx: Transaction, session: number): void {
  tx.defer(SQL.unlink, tx.tenant, session);
}
