/** Maps rows of the tables of programs to the port's records. */

import type { Access, AccessScope, AccessToken } from "../../model/access.ts";
import type { RouteSession, SessionRoute } from "../../model/route.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { parseStored, storedObject } from "../damage/stored-json.ts";
import type { IngestedFile, Original } from "../ingested-file.ts";
import { unpackText } from "../payload-codec.ts";
import type { Row } from "../records.ts";
import type { TokenRecord } from "../requests.ts";

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
export const ROUTE_COLUMNS = "r.key, r.session_id, r.version, r.created_at, r.updated_at, r.fields";

/** From `route_sessions` (h). */
export const ROUTE_SESSION_COLUMNS = "h.key, h.session_id, h.version, h.since, h.reason";

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
