/** Maps a row of `entries` (e) to an entry. */

import type { EntryKind, EntryStatus, Role, Usage } from "../../model/entry.ts";
import { toHex } from "../../transcript/hash.ts";
import type { EntryRecord, EntryUsage, PlacedEntry, Row } from "../records.ts";
import { textOrNull } from "./text.ts";

const COLUMNS = `e.id, e.sequence, e.parent_id, e.chain, e.depth, e.ordinal, e.kind, e.role, e.actor,
  e.status, e.model, e.adapter, e.input_tokens, e.output_tokens, e.cache_creation_tokens,
  e.cache_read_tokens, e.created_at, e.superseded_by, e.copied_from, e.pinned, e.content_bytes,
  e.content_hash`;

/** Names of the columns that `entryColumns` selects, in order. */
export const ENTRY_NAMES: readonly string[] = [
  ...COLUMNS.split(/,\s*/).map((column) => column.slice("e.".length)),
  "metadata",
  "content",
  "hash",
  "nonce_hex",
];

/**
 * `asText` and `asHex` are the backend's SQL for bytes as text: as bytes they would cost more than
 * all other columns together. `nonce_hex` is for the hash check; erasure and verification also
 * select `e.nonce`.
 */
export function entryColumns(
  asText: (column: string) => string,
  asHex: (column: string) => string,
): string {
  return `${COLUMNS}, ${asText("e.metadata")} AS metadata, ${asText("e.content")} AS content,
    ${asHex("e.hash")} AS hash, ${asHex("e.nonce")} AS nonce_hex`;
}

export function toEntry(row: Row, sessionId: string): EntryRecord {
  return {
    id: String(row["id"]),
    sessionId,
    sequence: Number(row["sequence"]),
    parentId: row["parent_id"] as string | null,
    chain: Number(row["chain"]),
    depth: Number(row["depth"]),
    ordinal: Number(row["ordinal"]),
    kind: row["kind"] as EntryKind,
    role: row["role"] as Role | null,
    actor: row["actor"] as string | null,
    status: row["status"] as EntryStatus,
    model: row["model"] as string | null,
    adapter: row["adapter"] as string | null,
    usage: usageOf(row),
    metadata: textOrNull(row["metadata"]),
    createdAt: Number(row["created_at"]),
    supersededBy: row["superseded_by"] as string | null,
    copiedFrom: row["copied_from"] as string | null,
    pinned: row["pinned"] === 1,
    content: textOrNull(row["content"]),
    contentBytes: Number(row["content_bytes"]),
    nonce: (row["nonce"] ?? null) as Uint8Array | null,
    contentHash: row["content_hash"] as Uint8Array | null,
    hash: row["hash"] as string | null,
  };
}

export const USAGE_COLUMNS = `e.id, e.input_tokens, e.output_tokens, e.cache_creation_tokens,
  e.cache_read_tokens, e.created_at, e.sequence, e.depth, e.superseded_by`;

export function toEntryUsage(row: Row): EntryUsage {
  return {
    id: String(row["id"]),
    usage: usageOf(row),
    createdAt: Number(row["created_at"]),
    sequence: Number(row["sequence"]),
    depth: Number(row["depth"]),
    supersededBy: row["superseded_by"] as string | null,
  };
}

function usageOf(row: Row): Usage | null {
  if (row["input_tokens"] === null) return null;
  return {
    inputTokens: Number(row["input_tokens"]),
    outputTokens: Number(row["output_tokens"]),
    cacheCreationTokens: Number(row["cache_creation_tokens"]),
    cacheReadTokens: Number(row["cache_read_tokens"]),
  };
}

/** An entry as an append returns it, re-read for a repeated request. */
export function toPlacedEntry(row: Row): PlacedEntry {
  return {
    id: String(row["id"]),
    sequence: Number(row["sequence"]),
    parentId: row["parent_id"] as string | null,
    ordinal: Number(row["ordinal"]),
    hash: toHex(row["hash"] as Uint8Array),
  };
}
