/** Filters messages before they are ranked. */

import { CHUNK_DOCUMENTS, ROLES, WINDOW_DOCUMENTS } from "../../index/layout.ts";
import type { ChunkColumns, MessageFacts } from "../../index/message-columns.ts";
import type { SessionPath } from "../../port.ts";
import type { Condition } from "../../query/query.ts";
import type { View } from "../../snapshot.ts";
import { type ChunkConditions, chunkConditions } from "./conditions.ts";
import { type OpenDocuments, openDocuments } from "./open-documents.ts";

export interface MessageFilter {
  readonly required: readonly (readonly Condition[])[];
  readonly excluded: readonly Condition[];
  /** Session numbers in ascending order; undefined: all. */
  readonly sessions: Uint32Array | undefined;
  /** Excluded sessions within the scope. */
  readonly barred: ReadonlySet<number> | undefined;
  /** By index of role: 1 passes. */
  readonly roles: Uint8Array;
  readonly since: number;
  readonly until: number;
  /** Only messages whose sequence in their session is less. */
  readonly before: number;
  /** The active path of a session, if known. Undefined: every message passes. */
  readonly path: ((session: number) => SessionPath | undefined) | undefined;
}

export const ALL_ROLES: Uint8Array = new Uint8Array(ROLES.length).fill(1);

/** A filter in one chunk. */
export interface ChunkFilter {
  readonly conditions: ChunkConditions;
  /** The messages of sessions in scope; undefined: all. */
  readonly open: OpenDocuments | undefined;
  readonly isOpen: (window: number) => boolean;
  readonly accepts: (document: number) => boolean;
}

/** Undefined if a blob is missing, null if no message of the chunk can be a hit. */
export function chunkFilter(
  view: View,
  chunk: number,
  columns: ChunkColumns,
  filter: MessageFilter,
): ChunkFilter | null | undefined {
  const conditions = chunkConditions(view.source, chunk, filter.required, filter.excluded);
  if (conditions === undefined || conditions === null) return conditions;
  const base = chunk * CHUNK_DOCUMENTS;
  const { roles } = filter;
  const live = view.live.messages;
  const { barred } = filter;
  const open = filter.sessions && openDocuments(columns, filter.sessions);
  const hasTimes =
    filter.since > Number.NEGATIVE_INFINITY || filter.until < Number.POSITIVE_INFINITY;
  const { path } = filter;

  const isOpen = (window: number) => {
    if (open !== undefined && open.rangesOf(window).length === 0) return false;
    if (!hasTimes) return true;
    const times = view.source.timesOfWindow(chunk, window);
    return times === undefined || (times[1] >= filter.since && times[0] <= filter.until);
  };
  /** By window: whether all of its messages are within the time range. Undefined: unknown. */
  const within: (boolean | undefined)[] = [];
  const isWithin = (window: number) => {
    const known = within[window];
    if (known !== undefined) return known;
    const times = view.source.timesOfWindow(chunk, window);
    if (times === undefined) return false;
    const isAll = times[0] >= filter.since && times[1] <= filter.until;
    within[window] = isAll;
    return isAll;
  };
  const accepts = (document: number) => {
    if (roles[columns.roles[document] as number] === 0) return false;
    if (live !== null && live[base + document] === 0) return false;
    if (open !== undefined && !open.has(document)) return false;
    if (barred?.has(columns.sessions[document] as number)) return false;
    if (!conditions.holds(document)) return false;
    if (hasTimes && !isWithin(Math.floor(document / WINDOW_DOCUMENTS))) {
      const facts = view.source.facts(base + document);
      if (facts === undefined || facts.time < filter.since || facts.time > filter.until) {
        return false;
      }
    }
    if (filter.before < Number.POSITIVE_INFINITY) {
      const facts = view.source.facts(base + document);
      if (facts === undefined || facts.sequence >= filter.before) return false;
    }
    const known = path?.(columns.sessions[document] as number);
    if (known === undefined || known.isWhole) return true;
    const facts = view.source.facts(base + document);
    return facts !== undefined && isOnPath(facts, known);
  };
  return { conditions, open, isOpen, accepts };
}

export function isOnPath({ chain, depth }: MessageFacts, path: SessionPath): boolean {
  if (path.isWhole) return true;
  return path.ranges.some((range) => range.chain === chain && depth <= range.maxDepth);
}
