/**
 * Maps rows of the feed to the index's input.
 *
 * One statement reads the entries of a range of the feed, one its other changes; the few other rows
 * (sessions, notes, tombstones) are named by `nameFeed` and added by `toFeedSlice`.
 */

import type { EntryKind, EntryStatus, Role } from "../../model/entry.ts";
import { recordOwner } from "../../model/record.ts";
import type {
  DeadSession,
  ErasedMessages,
  FeedEntry,
  FeedFact,
  FeedMemory,
  FeedSession,
  FeedSlice,
} from "../../search/port.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";
import { decodeSound, parseSound } from "./sound-content.ts";

/** The bound of a slice in bytes of content, which is held in memory. */
const MAX_SLICE_BYTES = 1024 * 1024;

/** The bound of a slice in erased entries, each of which is a look-up. */
const MAX_SLICE_ERASED = 10_000;

/** The appended entries (e) of a range of the feed, with content only for indexed kinds. */
export const FEED_ENTRY_NAMES: readonly string[] = [
  "position",
  "session",
  "sequence",
  "chain",
  "depth",
  "kind",
  "role",
  "actor",
  "status",
  "created_at",
  "metadata",
  "content_bytes",
  "content",
];
/** `asText` says how the backend gives bytes as text. */
export function feedEntryColumns(position: string, asText: (column: string) => string): string {
  return `${position} AS position, e.session, e.sequence, e.chain, e.depth, e.kind, e.role, e.actor, e.status,
    e.created_at, ${asText("e.metadata")} AS metadata, e.content_bytes,
    CASE WHEN e.kind = 'message' AND e.status = 'committed'
      THEN ${asText("e.content")} END AS content`;
}

/** All other changes (c), with the existing session of that id (s). */
export const FEED_CHANGE_COLUMNS = `c.position, c.kind, c.at, c.session_id, c.details,
  s.session AS live`;

/** Kinds of changes that the index ignores. */
export const FEED_SILENT = `('entry_appended', 'context_usage', 'message_chunk', 'message_opened',
  'entry_pinned', 'entry_unpinned', 'quota_changed', 'token_created', 'token_revoked',
  'route_put', 'route_deleted', 'administered')`;

/** Further rows that a slice needs. */
export interface FeedNames {
  readonly through: number;
  /** Rows with a committed message. */
  readonly entries: readonly Row[];
  /** Numbers of sessions whose own text may have changed, with the last such position. */
  readonly sessions: ReadonlyMap<number, number>;
  /** Records use `recordOwner` as their agent. */
  readonly memories: readonly {
    readonly position: number;
    readonly agent: string;
    readonly name: string;
  }[];
  /** Ids of facts, with the last position. */
  readonly facts: ReadonlyMap<string, number>;
  readonly deletions: readonly Deletion[];
  readonly erasures: readonly Erasure[];
  readonly touched: ReadonlySet<number>;
}

/** Erased entries. */
export interface Erasure {
  readonly position: number;
  readonly at: number;
  readonly ids: readonly string[];
}

export interface Deletion {
  readonly position: number;
  readonly sessionId: string;
  readonly at: number;
  /** In hex. */
  readonly digest: string;
}

/**
 * The contents of the feed up to position `last`. `entries` have `feedEntryColumns`, `changes` have
 * `FEED_CHANGE_COLUMNS`, both in feed order.
 */
export function nameFeed(
  entries: readonly Row[],
  changes: readonly Row[],
  last: number,
): FeedNames {
  const sessions = new Map<number, number>();
  const touched = new Set<number>();
  const kept: Row[] = [];
  const erasures = nameErasures(changes);
  let through = Math.min(last, lastErasure(erasures));
  let bytes = 0;
  for (const row of entries) {
    if (Number(row["position"]) > through) break;
    bytes += row["content"] === null ? 0 : Number(row["content_bytes"]);
    if (bytes > MAX_SLICE_BYTES && kept.length > 0) {
      through = Number(row["position"]) - 1;
      break;
    }
    const session = Number(row["session"]);
    touched.add(session);
    // A compaction sets the session's summary.
    if (row["kind"] === "compaction") sessions.set(session, Number(row["position"]));
    // Decoded once, for its payloads and its text.
    const content = textOrNull(row["content"]);
    if (content !== null) kept.push(Object.assign(row, { content }));
  }
  const names = { memories: new Map(), facts: new Map(), deletions: [], sessions, touched };
  for (const row of changes) {
    if (Number(row["position"]) <= through) nameChange(row, names);
  }
  return {
    ...names,
    through,
    entries: kept,
    memories: [...names.memories.values()],
    erasures: erasures.filter(({ position }) => position <= through),
  };
}

function nameErasures(changes: readonly Row[]): Erasure[] {
  return changes
    .filter((row) => row["kind"] === "content_erased")
    .map((row) => {
      const { ids } = detailsOf(row) as { ids: readonly string[] };
      return { position: Number(row["position"]), at: Number(row["at"]), ids };
    });
}

/** The position before the one that exceeds a slice's limit. */
function lastErasure(erasures: readonly Erasure[]): number {
  let count = 0;
  for (const [i, { position, ids }] of erasures.entries()) {
    count += ids.length;
    if (count > MAX_SLICE_ERASED && i > 0) return position - 1;
  }
  return Number.POSITIVE_INFINITY;
}

interface Named {
  readonly sessions: Map<number, number>;
  readonly memories: Map<string, FeedNames["memories"][number]>;
  readonly facts: Map<string, number>;
  readonly deletions: Deletion[];
  readonly touched: Set<number>;
}

function nameChange(row: Row, names: Named): void {
  const position = Number(row["position"]);
  const live = row["live"] as number | null;
  switch (row["kind"]) {
    case "session_created":
    case "session_updated":
      if (live === null) break;
      names.sessions.set(live, Math.max(position, names.sessions.get(live) ?? 0));
      break;
    case "leaf_moved":
    case "entry_superseded":
    case "message_aborted":
      if (live !== null) names.touched.add(live);
      break;
    case "session_deleted": {
      const { digest } = detailsOf(row) as { digest: string };
      const sessionId = String(row["session_id"]);
      names.deletions.push({ position, sessionId, at: Number(row["at"]), digest });
      break;
    }
    case "memory_put":
    case "memory_deleted": {
      const { agent, name } = detailsOf(row) as { agent: string; name: string };
      names.memories.set(JSON.stringify([agent, name]), { position, agent, name });
      break;
    }
    case "record_put":
    case "record_deleted": {
      const { namespace, key, indexed } = detailsOf(row) as {
        namespace: string;
        key: string;
        indexed: boolean;
      };
      if (!indexed) break;
      const agent = recordOwner(namespace);
      names.memories.set(JSON.stringify([agent, key]), { position, agent, name: key });
      break;
    }
    case "fact_added":
    case "fact_superseded":
    case "fact_deleted":
      names.facts.set(String(detailsOf(row)["fact"]), position);
      break;
  }
}

/** The rows read for `FeedNames`. */
export interface FeedFound {
  readonly head: number;
  /** The payloads of the entries' contents, by hash. */
  readonly payloads: ReadonlyMap<string, Uint8Array>;
  /** Rows with `FEED_SESSION_COLUMNS`. */
  readonly sessions: readonly Row[];
  /** Contents in the order of `FeedNames.memories`; null for a deleted one. */
  readonly memories: readonly (string | null)[];
  /** Rows with `FEED_FACT_COLUMNS`. */
  readonly facts: readonly Row[];
  /** Rows with `FEED_TOMBSTONE_COLUMNS`. */
  readonly tombstones: readonly Row[];
  /** Rows with `FEED_ERASED_COLUMNS` of the erased messages. */
  readonly erased: readonly Row[];
}

export const FEED_SESSION_COLUMNS = `s.session, s.title, s.summary, s.agent, s.started_at,
  s.created_at, s.project_path, s.metadata`;
export const FEED_FACT_COLUMNS = `f.id, f.session, f.subject, f.predicate, f.object,
  f.superseded_by`;
export const FEED_ERASED_COLUMNS = `e.id, e.session, e.sequence`;
export const FEED_TOMBSTONE_COLUMNS = `b.session, b.session_id, b.digest, b.deleted_at`;

/** A slice at the end of the feed. */
export function emptyFeedSlice(through: number, head: number): FeedSlice {
  const none: readonly never[] = [];
  return {
    through,
    head,
    entries: none,
    sessions: none,
    memories: none,
    facts: none,
    deleted: none,
    erased: none,
    touched: none,
  };
}

export function toFeedSlice(names: FeedNames, found: FeedFound): FeedSlice {
  return {
    through: names.through,
    head: found.head,
    entries: names.entries.map((row) => toFeedEntry(row, found.payloads)),
    sessions: found.sessions
      .map((row) => toFeedSession(row, names.sessions.get(Number(row["session"])) ?? 0))
      .sort(byPosition),
    memories: names.memories
      .map((memory, i): FeedMemory => ({ ...memory, content: found.memories[i] ?? null }))
      .sort(byPosition),
    facts: toFeedFacts(names, found.facts).sort(byPosition),
    deleted: names.deletions.flatMap((deletion) => toDead(deletion, found.tombstones)),
    erased: toErased(names, found.erased),
    touched: [...names.touched],
  };
}

function toFeedEntry(row: Row, payloads: ReadonlyMap<string, Uint8Array>): FeedEntry {
  const { blocks } = decodeSound(textOrNull(row["content"]) ?? "[]", (hash) => payloads.get(hash));
  return {
    position: Number(row["position"]),
    session: Number(row["session"]),
    sequence: Number(row["sequence"]),
    chain: Number(row["chain"]),
    depth: Number(row["depth"]),
    kind: row["kind"] as EntryKind,
    role: row["role"] as Role | null,
    status: row["status"] as EntryStatus,
    actor: row["actor"] as string | null,
    createdAt: Number(row["created_at"]),
    metadata: textOrNull(row["metadata"]),
    blocks,
  };
}

function toFeedSession(row: Row, position: number): FeedSession {
  return {
    position,
    session: Number(row["session"]),
    title: row["title"] as string | null,
    summary: row["summary"] as string | null,
    agent: String(row["agent"]),
    startedAt: Number(row["started_at"] ?? row["created_at"]),
    projectPath: row["project_path"] as string | null,
    machineMade: isMachineMade(textOrNull(row["metadata"])),
  };
}

/** Most metadata lacks the key: skip parsing. */
function isMachineMade(metadata: string | null): boolean {
  return metadata?.includes("machineMade") === true && parseSound(metadata)["machineMade"] === true;
}

function toFeedFacts(names: FeedNames, rows: readonly Row[]): FeedFact[] {
  const found = new Map(rows.map((row) => [row["id"], row]));
  return [...names.facts].map(([id, position]) => {
    const row = found.get(id);
    if (row === undefined) return { position, id, session: null, text: null };
    const text = `${row["subject"]} ${row["predicate"]} ${row["object"]}`;
    const current = row["superseded_by"] === null;
    return { position, id, session: Number(row["session"]), text: current ? text : null };
  });
}

/**
 * A session id may be reused after a deletion, so the tombstone is identified by its digest too.
 * Several empty sessions may be alike: then all are named, since all are deleted.
 */
function toDead(deletion: Deletion, tombstones: readonly Row[]): DeadSession[] {
  return tombstones
    .filter(
      (row) =>
        row["session_id"] === deletion.sessionId &&
        Number(row["deleted_at"]) === deletion.at &&
        Buffer.from(row["digest"] as Uint8Array).toString("hex") === deletion.digest,
    )
    .map((row) => ({
      session: Number(row["session"]),
      at: deletion.at,
      position: deletion.position,
    }));
}

/** Joins consecutive sequences into ranges: a compaction usually covers entries without gaps. */
function toErased({ erasures }: FeedNames, rows: readonly Row[]): ErasedMessages[] {
  const found = new Map(rows.map((row) => [row["id"], row]));
  return erasures.flatMap(({ position, at, ids }) => {
    const places = ids
      .map((id) => found.get(id))
      .filter((row) => row !== undefined)
      .map((row) => ({ session: Number(row["session"]), sequence: Number(row["sequence"]) }))
      .sort((a, b) => a.session - b.session || a.sequence - b.sequence);
    const ranges: { session: number; from: number; to: number }[] = [];
    for (const { session, sequence } of places) {
      const last = ranges.at(-1);
      if (last?.session === session && last.to === sequence - 1) last.to = sequence;
      else ranges.push({ session, from: sequence, to: sequence });
    }
    return ranges.map((range) => ({ ...range, at, position }));
  });
}

function detailsOf(row: Row): Record<string, unknown> {
  return parseSound(textOrNull(row["details"]) ?? "{}");
}

function byPosition(a: { readonly position: number }, b: { readonly position: number }): number {
  return a.position - b.position;
}
