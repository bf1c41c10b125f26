/**
 * The tables of programs: their columns, the statements that are the same on both databases (`$1` is
 * the tenant), and how their rows become the port's records.
 */

import type { Access, AccessScope, AccessToken } from "../../model/access.ts";
import type { RouteSession, SessionRoute } from "../../model/route.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { parseStored, storedObject } from "../damage/stored-json.ts";
import type { IngestedFile, Original } from "../ingested-file.ts";
import { unpackText } from "../payload-codec.ts";
import { PART_COLUMNS, RECORD_COLUMNS } from "../record/record-row.ts";
import type { Row } from "../records.ts";
import type { TokenRecord } from "../requests.ts";
import { FACT_COLUMNS } from "../rows/note-row.ts";

/** From `access_tokens` (k). */
export const TOKEN_COLUMNS = `k.id, k.scope, k.actor, k.act_as, k.operator, k.label, k.created_at,
  k.expires_at, k.revoked_at`;

/** The row of a token of any tenant, with its tenant's name and the hash of its secret. */
export function toTokenRecord(row: Row | undefined): TokenRecord | undefined {
  if (row === undefined) return undefined;
  return {
    token: toToken(row, String(row["tenant_name"])),
    secretHash: row["secret_hash"] as Uint8Array,
  };
}

export function toToken(row: Row, tenant: string): AccessToken {
  return {
    id: String(row["id"]),
    tenant,
    // An unknown scope of a later version includes none of ours: see `includesScope`.
    scope: row["scope"] as AccessScope,
    actor: row["actor"] as string | null,
    actAs: parseStored(String(row["act_as"] ?? "[]"), (cause) =>
      rowDamaged(`the access token ${String(row["id"])}`, "its actors are no JSON", cause),
    ) as Access["actAs"],
    operator: Number(row["operator"]) === 1,
    label: row["label"] as string | null,
    createdAt: Number(row["created_at"]),
    expiresAt: row["expires_at"] as number | null,
    revokedAt: row["revoked_at"] as number | null,
  };
}

/** From `routes` (r). */
const ROUTE_COLUMNS = "r.key, r.session_id, r.version, r.created_at, r.updated_at, r.fields";

/** From `route_sessions` (h). */
const ROUTE_SESSION_COLUMNS = "h.key, h.session_id, h.version, h.since, h.reason";

export function toRoute(row: Row): SessionRoute {
  const key = String(row["key"]);
  return {
    key,
    sessionId: String(row["session_id"]),
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    fields: storedObject(row["fields"], (cause) =>
      rowDamaged(`the route ${key}`, "its fields are no JSON", cause),
    ),
  };
}

export function toRouteSession(row: Row): RouteSession {
  return {
    key: String(row["key"]),
    sessionId: String(row["session_id"]),
    version: Number(row["version"]),
    since: Number(row["since"]),
    reason: String(row["reason"]),
  };
}

const FACTS = "path, source, size, mtime, read_offset, read_lines, tail_hash, seen_at";

/** Without the resume state, which has kilobytes: most files are unchanged. */
export const INGESTED_FILE_FACTS: string = `${FACTS}, NULL AS state`;
export const INGESTED_FILE_COLUMNS: string = `${FACTS}, state`;

/** Drop the bytes of all sessions of a session's files: they cannot be separated. */
export const DROP_ORIGINALS = ["forgetParts", "forgetOriginals", "forgetSessions"] as const;

export const ORIGINAL_COLUMNS = "o.workstation, o.path, o.source, o.reader, o.size, o.mtime";

export function toIngestedFile(row: Row): IngestedFile {
  const file: IngestedFile = {
    path: String(row["path"]),
    source: String(row["source"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    offset: Number(row["read_offset"]),
    lines: Number(row["read_lines"]),
    tailHash: row["tail_hash"] as Uint8Array | null,
    state: null,
    seenAt: Number(row["seen_at"]),
  };
  if (row["state"] === null) return file;
  const state = soundState(row["state"]);
  if (state !== undefined) return { ...file, state };
  // A reader cannot resume without its state. A wrong size makes it read the file from the start.
  return { ...file, size: -1, mtimeUs: -1, offset: 0, lines: 0, tailHash: null };
}

/** Undefined if it is damaged. */
function soundState(state: Row[string] | undefined): string | undefined {
  try {
    const text = unpackText(state as Uint8Array);
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

export function toOriginal(row: Row, parts: readonly Row[], sessions: readonly Row[]): Original {
  return {
    workstation: String(row["workstation"]),
    path: String(row["path"]),
    source: String(row["source"]),
    reader: Number(row["reader"]),
    size: Number(row["size"]),
    mtimeUs: Number(row["mtime"]),
    parts: parts.map(({ start, size }) => ({ start: Number(start), size: Number(size) })),
    sessionIds: sessions.map(({ id }) => String(id)),
  };
}

/** The originals of session $2 of tenant $1. */
const OF_SESSION = `(workstation, path) IN (SELECT l.workstation, l.path FROM original_sessions l
    WHERE l.tenant = $1 AND l.session = $2)`;

export const TOKENS_SQL: Readonly<Record<"create" | "revoke" | "read" | "list" | "find", string>> =
  {
    create: `INSERT INTO access_tokens (tenant, id, secret_hash, scope, actor, act_as, operator, label,
      created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    revoke: `UPDATE access_tokens SET revoked_at = $3
    WHERE tenant = $1 AND id = $2 AND revoked_at IS NULL RETURNING id`,
    read: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id = $2`,
    list: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id > $2
    ORDER BY k.id LIMIT $3`,
    find: `SELECT ${TOKEN_COLUMNS}, k.secret_hash, n.name AS tenant_name FROM access_tokens k
    JOIN tenants n ON n.tenant = k.tenant WHERE k.id = $1`,
  };

export const ROUTES_SQL: Readonly<
  Record<
    | "find"
    | "list"
    | "put"
    | "addSession"
    | "delete"
    | "deleteSessions"
    | "listSessions"
    | "ofSession",
    string
  >
> = {
  find: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key = $2`,
  list: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key > $2
    ORDER BY r.key LIMIT $3`,
  put: `INSERT INTO routes (tenant, key, session_id, version, created_at, updated_at, fields)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, key) DO UPDATE SET
      session_id = excluded.session_id, version = excluded.version,
      updated_at = excluded.updated_at, fields = excluded.fields`,
  addSession: `INSERT INTO route_sessions (tenant, key, version, session_id, since, reason)
    VALUES ($1, $2, $3, $4, $5, $6)`,
  delete: `DELETE FROM routes WHERE tenant = $1 AND key = $2`,
  deleteSessions: `DELETE FROM route_sessions WHERE tenant = $1 AND key = $2`,
  listSessions: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.key = $2 AND h.version < $3 ORDER BY h.version DESC LIMIT $4`,
  ofSession: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.session_id = $2 ORDER BY h.since DESC, h.key LIMIT $3`,
};

export const NOTES_SQL: Readonly<
  Record<
    | "findMemory"
    | "deleteMemory"
    | "listMemories"
    | "listAgentMemories"
    | "findFact"
    | "supersedeFact"
    | "deleteFact",
    string
  >
> = {
  findMemory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name = $3`,
  deleteMemory: `DELETE FROM memories WHERE tenant = $1 AND agent = $2 AND name = $3
    RETURNING name`,
  listMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND (agent, name) > ($2, $3) ORDER BY agent, name LIMIT $4`,
  listAgentMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name > $3 ORDER BY name LIMIT $4`,
  findFact: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id = $2`,
  supersedeFact: `UPDATE facts SET superseded_by = $3 WHERE tenant = $1 AND id = $2`,
  deleteFact: `DELETE FROM facts WHERE tenant = $1 AND id = $2`,
};

export const RECORDS_SQL: Readonly<
  Record<"page" | "pageValues" | "everything" | "put" | "expired", string>
> = {
  page: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1 AND r.namespace = $2
      AND r.key > $3 AND r.key >= $4 AND ($5::text IS NULL OR r.key < $5::text)
      AND (r.expires_at IS NULL OR r.expires_at > $6)
    ORDER BY r.key LIMIT $7`,
  pageValues: `SELECT ${PART_COLUMNS.all} FROM records r WHERE r.tenant = $1 AND r.namespace = $2
      AND r.key BETWEEN $3 AND $4 AND (r.expires_at IS NULL OR r.expires_at > $5)
    ORDER BY r.key`,
  everything: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1
      AND (r.namespace, r.key) > ($2, $3) AND (r.expires_at IS NULL OR r.expires_at > $4)
    ORDER BY r.namespace, r.key LIMIT $5`,
  put: `INSERT INTO records (tenant, namespace, key, version, is_json, size, hash, expires_at,
      created_at, updated_at, text, value)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
      is_json = excluded.is_json, size = excluded.size, hash = excluded.hash,
      expires_at = excluded.expires_at, created_at = excluded.created_at,
      updated_at = excluded.updated_at, text = excluded.text, value = excluded.value`,
  expired: `SELECT ${RECORD_COLUMNS} FROM records r
    WHERE r.tenant = $1 AND r.expires_at IS NOT NULL AND r.expires_at <= $2
    ORDER BY r.expires_at LIMIT $3`,
};

export const INGESTED_FILES_SQL: Readonly<
  Record<
    | "put"
    | "dropParts"
    | "putPart"
    | "putSession"
    | "parts"
    | "sessions"
    | "part"
    | "forgetParts"
    | "forgetOriginals"
    | "unlink"
    | "forgetSessions",
    string
  >
> = {
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
};
