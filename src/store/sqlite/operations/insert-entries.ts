/** Inserts the rows of planned entries. */

import { NONCE_BYTES } from "../../../transcript/hash.ts";
import type { EntryRow } from "../../plan/plan-append.ts";
import type { AppendRequest } from "../../records.ts";
import { insertRows, runInTens } from "../insert-rows.ts";
import { parentAfter, type WrittenRow } from "../packs/parent-column.ts";
import {
  type PackableEntry,
  type PreparedPack,
  preparePack,
  type StoredParts,
  writePack,
} from "../packs/write-pack.ts";
import type { SqliteConnection, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import type { FeedPlan } from "./feed.ts";
import { type FeedRow, feedRows } from "./feed-rows.ts";

const ENTRY_INSERT = `INSERT INTO entries (tenant, entry, session, sequence, id, parent_id, chain,
    depth, ordinal, kind, role, actor, status, model, adapter, input_tokens, output_tokens,
    cache_creation_tokens, cache_read_tokens, metadata, created_at, copied_from, content,
    content_bytes, nonce, hash, fed_at, fed_hash, fed_usage, fed_usage_hash, pack)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** For most entries: committed messages without the columns omitted here. */
const PLAIN_INSERT = `INSERT INTO entries (tenant, entry, session, sequence, id, parent_id, chain,
    depth, ordinal, kind, role, actor, status, model, created_at, content, content_bytes, nonce,
    hash, fed_at, fed_hash, fed_usage, fed_usage_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'message', ?, ?, 'committed', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** For most entries of a history: committed, with packed metadata. */
const PACKED_INSERT = `INSERT INTO entries (tenant, entry, session, sequence, id, parent_id, chain,
    depth, ordinal, kind, role, actor, status, model, input_tokens, output_tokens,
    cache_creation_tokens, cache_read_tokens, created_at, content, content_bytes, nonce, hash,
    fed_at, fed_hash, pack)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'committed', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const SQL = statements("insert_entries", {
  insertEntry: insertRows(1, ENTRY_INSERT),
  insertTenEntries: insertRows(10, ENTRY_INSERT),
  insertPacked: insertRows(1, PACKED_INSERT),
  insertTenPacked: insertRows(10, PACKED_INSERT),
  insertPlain: insertRows(1, PLAIN_INSERT),
  insertTenPlain: insertRows(10, PLAIN_INSERT),
});

/** Packs compressed before the write lock was taken. */
const prepared = new WeakMap<AppendRequest, PreparedPack>();

/** Outside of a transaction: prepares the packs of a history. */
export function packAhead(request: AppendRequest): void {
  if (request.isHistory && !prepared.has(request)) prepared.set(request, packOf(request));
}

function packOf({ entries }: AppendRequest): PreparedPack {
  return preparePack(
    entries.map((entry): PackableEntry => {
      const { kind, role, encoded, metadata } = entry;
      const content = encoded?.subarray(NONCE_BYTES) ?? Buffer.from(entry.content);
      return { kind, role, content, metadata: toBytes(metadata) };
    }),
  );
}

/** Packs the rows of a history. Their sequences have no gaps, as a pack requires. */
export function packRows(
  db: SqliteConnection,
  tenant: number,
  session: number,
  request: AppendRequest,
  rows: readonly EntryRow[],
): StoredParts[] {
  const first = rows[0]?.place.sequence ?? 0;
  return writePack(db, tenant, session, first, prepared.get(request) ?? packOf(request));
}

/** The stored columns of an unpacked entry. */
function ownParts({ entry, content }: EntryRow): StoredParts {
  return { content, metadata: toBytes(entry.metadata), pack: null };
}

function toBytes(text: string | null | undefined): Buffer | null {
  return text === null || text === undefined ? null : Buffer.from(text);
}

/** Unused values are not converted: plain rows take a fifth less time. */
export function insertEntries(
  db: SqliteConnection,
  tenant: number,
  session: number,
  rows: readonly EntryRow[],
  feed: FeedPlan,
  parts: readonly StoredParts[] | undefined,
): void {
  const fedRows = feedRows(rows, feed.changes, feed.tenant.rowBeforeFeed);
  let next = 0;
  const fed = () => fedRows[next++] as FeedRow;
  const beforeAt = (i: number): WrittenRow | undefined =>
    i === 0 ? undefined : { row: rows[i - 1] as EntryRow, fed: fedRows[i - 1] as FeedRow };
  if (parts === undefined && rows.every(isPlain)) {
    runInTens(db, SQL.insertPlain, SQL.insertTenPlain, rows, (row) =>
      plainValues(tenant, session, row, fed()),
    );
  } else if (parts !== undefined && rows.every((row, i) => isPacked(row, parts[i], fedRows[i]))) {
    runInTens(db, SQL.insertPacked, SQL.insertTenPacked, rows, (row) => {
      const i = next;
      const own = fed();
      const parentId = parentAfter(row, own, beforeAt(i));
      return packedValues(tenant, session, row, parts[i] as StoredParts, parentId, own);
    });
  } else {
    runInTens(db, SQL.insertEntry, SQL.insertTenEntries, rows, (row) => {
      const i = next;
      const own = fed();
      const before = parts === undefined ? undefined : beforeAt(i);
      const stored = parts?.[i] ?? ownParts(row);
      return entryValues(tenant, session, row, stored, parentAfter(row, own, before), own);
    });
  }
}

function isPacked(
  { entry, status }: EntryRow,
  parts: StoredParts | undefined,
  fed: FeedRow | undefined,
): boolean {
  return (
    status === "committed" &&
    parts?.metadata === null &&
    entry.adapter === null &&
    entry.copiedFrom === undefined &&
    fed?.usage === undefined
  );
}

function isPlain({ entry, status }: EntryRow): boolean {
  return (
    entry.kind === "message" &&
    status === "committed" &&
    entry.usage === null &&
    entry.metadata === null &&
    entry.adapter === null &&
    entry.copiedFrom === undefined
  );
}

function plainValues(tenant: number, session: number, row: EntryRow, fed: FeedRow): SqlValue[] {
  const { entry, place } = row;
  return [
    tenant,
    fed.number,
    session,
    place.sequence,
    entry.id,
    place.parent?.id ?? null,
    place.chain,
    place.depth,
    place.ordinal,
    entry.role,
    entry.actor,
    entry.model,
    entry.createdAt,
    row.content,
    entry.contentBytes,
    row.nonce,
    row.hash,
    fed.at,
    fed.hash,
    toBytes(fed.usage?.change.details),
    fed.usage?.hash ?? null,
  ];
}

function packedValues(
  tenant: number,
  session: number,
  row: EntryRow,
  parts: StoredParts,
  parentId: string | null,
  fed: FeedRow,
): SqlValue[] {
  const { entry, place } = row;
  const { usage } = entry;
  return [
    tenant,
    fed.number,
    session,
    place.sequence,
    entry.id,
    parentId,
    place.chain,
    place.depth,
    place.ordinal,
    entry.kind,
    entry.role,
    entry.actor,
    entry.model,
    usage === null ? null : usage.inputTokens,
    usage === null ? null : usage.outputTokens,
    usage === null ? null : usage.cacheCreationTokens,
    usage === null ? null : usage.cacheReadTokens,
    entry.createdAt,
    parts.content,
    entry.contentBytes,
    row.nonce,
    row.hash,
    fed.at,
    fed.hash,
    parts.pack,
  ];
}

function entryValues(
  tenant: number,
  session: number,
  row: EntryRow,
  parts: StoredParts,
  parentId: string | null,
  fed: FeedRow,
): SqlValue[] {
  const { entry, place } = row;
  return [
    tenant,
    fed.number,
    session,
    place.sequence,
    entry.id,
    parentId,
    place.chain,
    place.depth,
    place.ordinal,
    entry.kind,
    entry.role,
    entry.actor,
    row.status,
    entry.model,
    entry.adapter,
    entry.usage?.inputTokens ?? null,
    entry.usage?.outputTokens ?? null,
    entry.usage?.cacheCreationTokens ?? null,
    entry.usage?.cacheReadTokens ?? null,
    parts.metadata,
    entry.createdAt,
    entry.copiedFrom ?? null,
    parts.content,
    entry.contentBytes,
    row.nonce,
    row.hash,
    fed.at,
    fed.hash,
    toBytes(fed.usage?.change.details),
    fed.usage?.hash ?? null,
    parts.pack,
  ];
}
