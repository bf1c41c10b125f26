/** Maps rows of `changes`, `tenants` and `tombstones` to the port's records. */

import type { ChangeKind } from "../../model/change.ts";
import { toHex } from "../../transcript/hash.ts";
import {
  storedBytes,
  storedBytesOrNull,
  storedPosition,
  textOrNull,
} from "../damage/stored-json.ts";
import { toIndexStatus } from "../index/index-status.ts";
import { toManifest } from "../index/manifest-codec.ts";
import type { ChangeRecord, Row, TenantStatus, Tombstone } from "../records.ts";

export function toChange(row: Row): ChangeRecord {
  const position = storedPosition(row["position"]);
  const name = `change ${position} of the feed`;
  return {
    position,
    at: Number(row["at"]),
    kind: row["kind"] as ChangeKind,
    sessionId: row["session_id"] as string | null,
    entryId: row["entry_id"] as string | null,
    entryHash: storedBytesOrNull(row["entry_hash"], name),
    details: textOrNull(row["details"]),
    hash: storedBytes(row["hash"], name),
  };
}

export function toTombstone(row: Row): Tombstone {
  return {
    sessionId: String(row["session_id"]),
    originKey: row["origin_key"] as string | null,
    entryCount: Number(row["entry_count"]),
    digest: storedBytes(row["digest"], `the tombstone of session ${String(row["session_id"])}`),
    reason: String(row["reason"]),
    deletedAt: Number(row["deleted_at"]),
  };
}

/**
 * `pending`, `memories` and `facts` are counted separately from the tenant's row; `version`,
 * `through` and `body` are its manifest's, if any.
 */
export function toTenantStatus(row: Row): TenantStatus {
  const { lag, segments, documents, bytes, vectors } = toIndexStatus(
    toManifest(row),
    Number(row["feed_position"]),
    null,
  );
  return {
    tenant: String(row["name"]),
    sessions: Number(row["session_count"]),
    entries: Number(row["entry_count"]),
    messages: Number(row["message_count"]),
    contentBytes: Number(row["content_bytes"]),
    pending: Number(row["pending"]),
    memories: Number(row["memories"]),
    facts: Number(row["facts"]),
    feedPosition: Number(row["feed_position"]),
    feedHead: toHex(storedBytes(row["feed_hash"], `the row of tenant ${String(row["name"])}`)),
    index: { lag, segments, documents, bytes, vectors },
    quota: {
      maxSessions: row["max_sessions"] as number | null,
      maxEntries: row["max_entries"] as number | null,
      maxContentBytes: row["max_content_bytes"] as number | null,
    },
  };
}
