/** The columns of `entries` (e), and its rows as entries. */

import type { EntryKind, EntryStatus, Role, Usage } from "../../model/entry.ts";
import { type HashedColumns, toHex } from "../../transcript/hash.ts";
import type { TreePlace } from "../../transcript/place.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { EntryRecord, EntryUsage, NewEntry, PlacedEntry, Row } from "../records.ts";

/** An entry as an append stores it. */
export interface EntryRow {
  readonly entry: NewEntry;
  readonly place: TreePlace;
  readonly status: "committed" | "aborted";
  readonly nonce: Uint8Array;
  /** The stored content in UTF-8. */
  readonly content: Uint8Array;
  readonly hash: Uint8Array;
  /** The same in hex. */
  readonly hex: string;
}

/** A column of `entries` that both databases have. */
export interface EntryColumn {
  readonly type: "integer" | "text" | "bytes";
  /** The value of an appended entry; absent: null until an operation sets it. */
  readonly write?: (row: EntryRow) => number | string | Uint8Array | null;
  /**
   * Bytes are read as text or as hex digits: as bytes they would cost more than all other columns
   * together. Erasure and verification also select `e.nonce`.
   */
  readonly readAs?: "text" | "hex";
  /** A tombstone does not keep it. */
  readonly buried?: true;
}

/** INSERTs and SELECTs of both backends derive from it. `toEntry` reads each by hand, for speed. */
export const ENTRY_COLUMNS: Readonly<Record<string, EntryColumn>> = {
  id: { type: "text", write: ({ entry }) => entry.id },
  sequence: { type: "integer", write: ({ place }) => place.sequence },
  parent_id: { type: "text", write: ({ place }) => place.parent?.id ?? null },
  chain: { type: "integer", write: ({ place }) => place.chain },
  depth: { type: "integer", write: ({ place }) => place.depth },
  ordinal: { type: "integer", write: ({ place }) => place.ordinal },
  kind: { type: "text", write: ({ entry }) => entry.kind },
  role: { type: "text", write: ({ entry }) => entry.role },
  actor: { type: "text", write: ({ entry }) => entry.actor, buried: true },
  status: { type: "text", write: ({ status }) => status },
  model: { type: "text", write: ({ entry }) => entry.model, buried: true },
  adapter: { type: "text", write: ({ entry }) => entry.adapter, buried: true },
  input_tokens: tokens((usage) => usage.inputTokens),
  output_tokens: tokens((usage) => usage.outputTokens),
  cache_creation_tokens: tokens((usage) => usage.cacheCreationTokens),
  cache_read_tokens: tokens((usage) => usage.cacheReadTokens),
  created_at: { type: "integer", write: ({ entry }) => entry.createdAt },
  superseded_by: { type: "text" },
  copied_from: { type: "text", write: ({ entry }) => entry.copiedFrom ?? null },
  pinned: { type: "integer" },
  content_bytes: { type: "integer", write: ({ entry }) => entry.contentBytes },
  content_hash: { type: "bytes", buried: true },
  metadata: {
    type: "bytes",
    write: ({ entry }) => (entry.metadata === null ? null : Buffer.from(entry.metadata)),
    readAs: "text",
    buried: true,
  },
  content: { type: "bytes", write: ({ content }) => content, readAs: "text", buried: true },
  hash: { type: "bytes", write: ({ hash }) => hash, readAs: "hex" },
  nonce: { type: "bytes", write: ({ nonce }) => nonce, readAs: "hex", buried: true },
};

function tokens(count: (usage: Usage) => number): EntryColumn {
  const write = ({ entry: { usage } }: EntryRow) => (usage === null ? null : count(usage));
  return { type: "integer", write, buried: true };
}

/** Sets the columns of a row that becomes a tombstone. */
export const BURY_SETS: string = Object.entries(ENTRY_COLUMNS)
  .filter(([, { buried }]) => buried)
  .map(([name]) => `${name} = NULL`)
  .concat("content_bytes = 0")
  .join(", ");

/** Names of the columns that `entryColumns` selects, in order. */
export const ENTRY_NAMES: readonly string[] = Object.keys(ENTRY_COLUMNS).map((name) =>
  name === "nonce" ? "nonce_hex" : name,
);

/** `asText` and `asHex` are the backend's SQL for bytes as text. */
export function entryColumns(
  asText: (column: string) => string,
  asHex: (column: string) => string,
): string {
  const selected = Object.entries(ENTRY_COLUMNS).map(([name, { readAs }], i) => {
    if (readAs === undefined) return `e.${name}`;
    return `${(readAs === "text" ? asText : asHex)(`e.${name}`)} AS ${ENTRY_NAMES[i]}`;
  });
  return selected.join(", ");
}

/** What an entry's hash covers. */
export function hashedColumns(entry: NewEntry | EntryRecord, sessionId: string): HashedColumns {
  const { usage } = entry;
  return {
    id: entry.id,
    sessionId,
    kind: entry.kind,
    role: entry.role,
    actor: entry.actor,
    model: entry.model,
    adapter: entry.adapter,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cacheCreationTokens: usage?.cacheCreationTokens ?? null,
    cacheReadTokens: usage?.cacheReadTokens ?? null,
    metadata: entry.metadata,
    copiedFrom: entry.copiedFrom ?? null,
    createdAt: entry.createdAt,
  };
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
