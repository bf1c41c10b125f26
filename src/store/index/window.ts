/**
 * The window of a hit: the messages around it, and their shown text.
 *
 * The path is the active one if the entry is on it, and otherwise the one to the end of the entry's
 * own chain, on the abandoned branch.
 */

import { defined } from "../../model/defined.ts";
import type { Role } from "../../model/entry.ts";
import { type StoredMark, standingMarks } from "../../model/mark.ts";
import {
  isPersons,
  LATE_FILES_KEY,
  lateLeavesOf,
  NO_PROJECT_ID,
  type Session,
} from "../../model/session.ts";
import type { SessionPath, WindowEntry, WindowHead, WindowRequest } from "../../search/port.ts";
import { isOnPath, type PathEnd, type PathRange, pathRanges } from "../../transcript/path.ts";
import type { Chain } from "../../transcript/place.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";
import { decodeSound, parseSound } from "./sound-content.ts";

/** The backend's words for what SQL has no common ones for. */
interface WindowSql {
  /** Finds text in a column of bytes. */
  readonly positionOf: (text: string, column: string) => string;
  /** A JSON text with a list of lists of values. */
  readonly listOf: (values: string, order: string) => string;
  /** Bytes as hexadecimal digits, because damaged ones are no text. */
  readonly hexOf: (column: string) => string;
}

/** Metadata is read only if it has one of these. */
const READ_KEYS = [LATE_FILES_KEY, "parent", "machineMade"];
/** Of more marks of a session, the newest count. */
const MAX_MARKS = 1_000;

/**
 * Columns of a session (s) and its state (t). Marks are among the labels, which have an index of
 * their own; a session of messages alone has none.
 */
export function windowSessionColumns({ positionOf, listOf, hexOf }: WindowSql): string {
  const mark = `${hexOf("l.content")}, l.actor, l.created_at`;
  const isRead = READ_KEYS.map((key) => `${positionOf(`'"${key}"'`, "s.metadata")} > 0`);
  return `s.id, s.short_id, s.title, s.agent, s.owner, s.source, s.origin_key,
  COALESCE(s.repo, NULLIF(s.project_id, '${NO_PROJECT_ID}'), '') AS place,
  s.created_at, t.updated_at,
  t.message_count, t.leaf_id, t.leaf_chain, t.leaf_depth, t.leaf_ordinal,
  CASE WHEN ${isRead.join(" OR ")} THEN s.metadata END AS metadata,
  CASE WHEN t.last_sequence > t.message_count THEN
    (SELECT ${listOf(mark, "l.sequence")} FROM
      (SELECT m.content, m.actor, m.created_at, m.sequence FROM entries m
        WHERE m.tenant = s.tenant AND m.session = s.session AND m.kind = 'label'
          AND ${positionOf(`'"mark"'`, "m.content")} > 0
        ORDER BY m.sequence DESC LIMIT ${MAX_MARKS}) l) END AS marks`;
}
/** The names of `windowSessionColumns` in order, followed by the session's number. */
export const WINDOW_SESSION_NAMES = [
  "id",
  "short_id",
  "title",
  "agent",
  "owner",
  "source",
  "origin_key",
  "place",
  "created_at",
  "updated_at",
  "message_count",
  "leaf_id",
  "leaf_chain",
  "leaf_depth",
  "leaf_ordinal",
  "metadata",
  "marks",
  "session",
] as readonly string[];

/** Columns of a shown message (m). `asText` is the backend's SQL for bytes as text. */
export function windowEntryColumns(asText: (column: string) => string): string {
  return `m.id, m.sequence, m.ordinal, m.role, m.actor, m.created_at, m.copied_from,
    ${asText("m.content")} AS content`;
}

/** A session's first chain, which starts at the root: a leaf on it has its whole path on it. */
export const FIRST_CHAIN = 1;

/** The last entry of a path. */
export interface Leaf extends PathEnd {
  readonly id: string;
}

/** Messages of one chain: ordinals from `from` to `to`, at most `maxDepth` deep. */
export interface WindowRange {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
  readonly maxDepth: number;
}

/** The entry's place; undefined if deleted. Sequence 0 means the start of the active path. */
export function entryEnd(row: Row, { sequence }: WindowRequest): PathEnd | undefined {
  if (sequence === 0) return { chain: 0, depth: 0, ordinal: 1 };
  if (row["chain"] === null) return undefined;
  return {
    chain: Number(row["chain"]),
    depth: Number(row["depth"]),
    ordinal: Number(row["ordinal"]),
  };
}

/** From a row with `windowSessionColumns`. */
export function toWindowHead(row: Row): WindowHead {
  const metadata = (parseSound(textOrNull(row["metadata"]) ?? "{}") ?? {}) as Session["metadata"];
  const origin = { source: text(row["source"]), key: text(row["origin_key"]) };
  return {
    sessionId: String(row["id"]),
    shortId: String(row["short_id"] ?? row["id"]),
    title: row["title"] as string | null,
    agent: String(row["agent"]),
    place: String(row["place"]),
    speaker: isPersons({ origin: defined(origin), metadata }) ? String(row["owner"]) : null,
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    messageCount: Number(row["message_count"]),
    active:
      row["leaf_id"] === null
        ? null
        : {
            id: String(row["leaf_id"]),
            chain: Number(row["leaf_chain"]),
            depth: Number(row["leaf_depth"]),
            ordinal: Number(row["leaf_ordinal"]),
          },
    lateLeaves: lateLeavesOf(metadata),
    marks: toMarks(textOrNull(row["marks"])),
  };
}

function text(value: Row[string] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toMarks(list: string | null): readonly StoredMark[] {
  if (list === null) return NO_MARKS;
  const rows = JSON.parse(list) as [hex: string, actor: string | null, createdAt: number][];
  return standingMarks(
    rows.map(([hex, actor, createdAt]) => {
      const content = parseSound(Buffer.from(hex, "hex").toString());
      return { data: (content as { data?: unknown } | null)?.data, actor, createdAt };
    }),
  );
}
const NO_MARKS: readonly StoredMark[] = [];

/** The path to `leaf` if `entry` is on it. `chains` has those from the leaf's to the root. */
export function pathThrough(
  entry: PathEnd,
  leaf: Leaf | null | undefined,
  chains: ReadonlyMap<number, Chain>,
): PathRange[] | undefined {
  if (leaf === null || leaf === undefined) return undefined;
  const ranges = pathRanges(leaf, chains);
  return isOnPath(entry, ranges) ? ranges : undefined;
}

/** The ranges of `path` that a window shows. */
export function windowRanges(
  path: readonly PathRange[],
  entry: PathEnd,
  { before, after }: WindowRequest,
): WindowRange[] {
  const first = entry.ordinal - before;
  const last = entry.ordinal + after;
  return path
    .map(({ chain, afterOrdinal, maxOrdinal, maxDepth }) => ({
      chain,
      from: Math.max(first, afterOrdinal + 1),
      to: Math.min(last, maxOrdinal),
      maxDepth,
    }))
    .filter(({ from, to }) => from <= to);
}

/** The names of `windowEntryColumns`, in order. */
export const WINDOW_ENTRY_NAMES: readonly string[] = [
  "id",
  "sequence",
  "ordinal",
  "role",
  "actor",
  "created_at",
  "copied_from",
  "content",
];

/** The values of `windowEntryColumns`, in order. */
export type WindowEntryValues = readonly Row[string][];

/** A text without its payload is marked as truncated. */
export function toWindowEntry(
  values: WindowEntryValues,
  payloads: ReadonlyMap<string, Uint8Array>,
): WindowEntry {
  const [id, sequence, ordinal, role, actor, createdAt, copiedFrom] = values;
  const content = textOrNull(values[7]);
  const { blocks, truncated } =
    content === null
      ? { blocks: [], truncated: false }
      : decodeSound(content, (hash) => payloads.get(hash));
  return {
    id: String(id),
    sequence: Number(sequence),
    index: Number(ordinal) - 1,
    role: role as Role | null,
    actor: actor as string | null,
    createdAt: Number(createdAt),
    copiedFrom: copiedFrom as string | null,
    blocks,
    erased: content === null,
    truncated,
  };
}

/** Whether a session (t) has a single chain, and its leaf is the end of it. */
export const IS_WHOLE = `(t.last_chain = 0 OR (t.last_chain = 1 AND t.leaf_at_tip = 1))`;

/**
 * An existing session has at least one row, with a null `chain` while it is empty. A deleted one
 * has no row, and no path. Chain 0 is left out: it never holds a message.
 */
export function toSessionPaths(rows: readonly Row[]): SessionPath[] {
  const paths = new Map<number, SessionPath & { ranges: { chain: number; maxDepth: number }[] }>();
  for (const row of rows) {
    const session = Number(row["session"]);
    let path = paths.get(session);
    if (path === undefined) {
      path = { session, isWhole: Number(row["whole"]) === 1, ranges: [] };
      paths.set(session, path);
    }
    if (row["chain"] === null) continue;
    path.ranges.push({ chain: Number(row["chain"]), maxDepth: Number(row["depth"]) });
  }
  return [...paths.values()];
}
