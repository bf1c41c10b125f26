/** An entry on the wire. */

import type { Entry, EntryKind, EntryStatus, Role } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { fromWireBlock, toWireBlock, type WireBlock } from "./block.ts";
import { fromWireUsage, toWireUsage, type WireUsage } from "./usage.ts";
import { fromWireFields, fromWireTime, toWireFields, toWireTime } from "./wire.ts";

export interface WireEntry {
  readonly id: string;
  readonly session_id: string;
  /** The writer's id. */
  readonly external_id: string | null;
  readonly sequence: number;
  readonly parent_id: string | null;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly status: EntryStatus;
  readonly blocks: readonly WireBlock[];
  readonly data: JsonValue;
  /** The writer's raw value of a message. */
  readonly raw: JsonValue;
  /** Zero-based index of a message on its own path. */
  readonly msg_idx: number | null;
  readonly usage: WireUsage | null;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly superseded_by: string | null;
  readonly copied_from: string | null;
  readonly pinned: boolean;
  readonly metadata: JsonObject;
  readonly created_at: string;
  readonly hash: string | null;
  /** True where a large payload was cut to its head. */
  readonly truncated: boolean;
  /** True where the session's retention erased the content. */
  readonly erased: boolean;
}

/** The kinds whose data has our fields. An extension's data keeps its own names. */
const OWN_DATA: ReadonlySet<EntryKind> = new Set([
  "compaction",
  "branch_summary",
  "summary",
  "label",
]);

export function toWireEntry(entry: Entry): WireEntry {
  return {
    id: entry.id,
    session_id: entry.sessionId,
    external_id: entry.externalId,
    sequence: entry.sequence,
    parent_id: entry.parentId,
    kind: entry.kind,
    role: entry.role,
    actor: entry.actor,
    status: entry.status,
    blocks: entry.blocks.map(toWireBlock),
    data:
      OWN_DATA.has(entry.kind) && isPlainObject(entry.data) ? toWireFields(entry.data) : entry.data,
    raw: entry.raw,
    msg_idx: entry.index,
    usage: entry.usage === null ? null : toWireUsage(entry.usage),
    model: entry.model,
    adapter: entry.adapter,
    superseded_by: entry.supersededBy,
    copied_from: entry.copiedFrom,
    pinned: entry.pinned,
    metadata: entry.metadata,
    created_at: toWireTime(entry.createdAt),
    hash: entry.hash,
    truncated: entry.truncated,
    erased: entry.erased,
  };
}

export function fromWireEntry(entry: WireEntry): Entry {
  return {
    id: entry.id,
    sessionId: entry.session_id,
    externalId: entry.external_id,
    sequence: entry.sequence,
    parentId: entry.parent_id,
    kind: entry.kind,
    role: entry.role,
    actor: entry.actor,
    status: entry.status,
    blocks: entry.blocks.map(fromWireBlock),
    data:
      OWN_DATA.has(entry.kind) && isPlainObject(entry.data)
        ? (fromWireFields(entry.data) as JsonObject)
        : entry.data,
    raw: entry.raw,
    index: entry.msg_idx,
    usage: entry.usage === null ? null : fromWireUsage(entry.usage),
    model: entry.model,
    adapter: entry.adapter,
    supersededBy: entry.superseded_by,
    copiedFrom: entry.copied_from,
    pinned: entry.pinned,
    metadata: entry.metadata,
    createdAt: fromWireTime(entry.created_at),
    hash: entry.hash,
    truncated: entry.truncated,
    erased: entry.erased,
  };
}
