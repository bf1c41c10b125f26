/** Maps stored records to the entries that callers see. */

import { type Entry, kindRules } from "../model/entry.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import { readableBlock } from "../model/tool-input.ts";
import { pendingChunks } from "../store/plan/plan-stream.ts";
import type { EntryRecord, PlacedEntry } from "../store/records.ts";
import type { PendingRecord } from "../store/requests.ts";
import { foldChunks } from "../transcript/chunks.ts";
import { type DecodedContent, decodeContent } from "../transcript/content.ts";
import type { Draft } from "./message-input.ts";

/** Payloads missing from the map are shown by their head: a preview. */
export function toEntry(record: EntryRecord, payloads: ReadonlyMap<string, Uint8Array>): Entry {
  const content: DecodedContent =
    record.content === null
      ? { blocks: [], data: null, truncated: false }
      : decodeContent(record.content, (hash) => payloads.get(hash));
  return {
    id: record.id,
    sessionId: record.sessionId,
    externalId: content.externalId ?? null,
    sequence: record.sequence,
    parentId: record.parentId,
    kind: record.kind,
    role: record.role,
    actor: record.actor,
    status: record.status,
    blocks: content.blocks.map(readableBlock),
    data: content.data,
    raw: parseRaw(content.raw),
    index: indexOf(record.kind, record.status, record.ordinal),
    usage: record.usage,
    model: record.model,
    adapter: record.adapter,
    supersededBy: record.supersededBy,
    copiedFrom: record.copiedFrom,
    pinned: record.pinned,
    metadata: parseMetadata(record.metadata),
    createdAt: record.createdAt,
    hash: record.hash,
    truncated: content.truncated,
    erased: record.content === null,
  };
}

/** The entry of an append, without reading it back. */
export function appendedEntry(sessionId: string, draft: Draft, placed: PlacedEntry): Entry {
  const { entry, blocks, data } = draft;
  return {
    id: placed.id,
    sessionId,
    externalId: draft.externalId ?? null,
    sequence: placed.sequence,
    parentId: placed.parentId,
    kind: entry.kind,
    role: entry.role,
    actor: entry.actor,
    status: entry.status ?? "committed",
    blocks: blocks.map(readableBlock),
    data,
    raw: parseRaw(draft.raw),
    index: indexOf(entry.kind, entry.status ?? "committed", placed.ordinal),
    usage: entry.usage,
    model: entry.model,
    adapter: entry.adapter,
    supersededBy: null,
    copiedFrom: entry.copiedFrom ?? null,
    pinned: false,
    metadata: parseMetadata(entry.metadata),
    createdAt: entry.createdAt,
    hash: placed.hash,
    truncated: false,
    erased: false,
  };
}

/** An open message with its content so far. */
export function pendingEntry(record: PendingRecord): Entry {
  return {
    id: record.id,
    sessionId: record.sessionId,
    externalId: null,
    sequence: 0,
    parentId: null,
    kind: "message",
    role: record.role,
    actor: record.actor,
    status: "pending",
    blocks: foldChunks(pendingChunks(record)).map(readableBlock),
    data: null,
    raw: null,
    index: null,
    usage: null,
    model: record.model,
    adapter: record.adapter,
    supersededBy: null,
    copiedFrom: null,
    pinned: false,
    metadata: parseMetadata(record.metadata),
    createdAt: record.openedAt,
    hash: null,
    truncated: false,
    erased: false,
  };
}

/** Only messages have one. */
export function indexOf(
  kind: Entry["kind"],
  status: Entry["status"],
  ordinal: number,
): number | null {
  return kindRules(kind).counted && status === "committed" ? ordinal - 1 : null;
}

/** Parsed for each reader, because readers may modify it. */
function parseRaw(text: string | undefined): JsonValue {
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}

function parseMetadata(text: string | null): JsonObject {
  return text === null ? {} : (JSON.parse(text) as JsonObject);
}
