/**
 * The first pass: runs block-max MaxScore over all sources; sessions rank by their best message.
 */

import type { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { documentsOf, lowerBound } from "../index/lists/term-list.ts";
import type { ChunkColumns } from "../index/message-columns.ts";
import type { SansIo } from "../port.ts";
import type { View } from "../snapshot.ts";
import type { LengthNorm } from "./bm25.ts";
import { type ChunkTask, exactScore, type ScoredList, scoreChunk } from "./chunk-scorer.ts";
import { type ChunkFilter, chunkFilter, type MessageFilter } from "./filter/filter.ts";
import type { ResolvedTerm } from "./query-terms.ts";
import type { TopSessions } from "./session/top-sessions.ts";

export interface WeightedTerm extends ResolvedTerm {
  /** Its idf times its query weight. */
  readonly weight: number;
}

export interface MessagePass {
  readonly views: readonly View[];
  readonly terms: readonly WeightedTerm[];
  readonly norm: LengthNorm;
  /** The terms in tool outputs; their weights include the field's. */
  readonly outputs: readonly WeightedTerm[];
  readonly outputNorm: LengthNorm;
  readonly roleWeights: Float64Array;
  readonly filter: MessageFilter;
  /** Boosts of sessions by fields other than their messages. */
  readonly boosts: ReadonlyMap<number, number>;
  /** Every message ranks by itself: one session is searched for its best messages. */
  readonly isByMessage: boolean;
  /** The maximum boost of sessions outside `top`. */
  readonly maxBoost: number;
}

/** The loaded data of a chunk. */
interface LoadedChunk {
  readonly columns: ChunkColumns;
  readonly lists: readonly ScoredList[];
  readonly filter: ChunkFilter;
}

/** Postings requested at a time, to bound memory. */
const BATCH_DOCUMENTS = 8 * CHUNK_DOCUMENTS;

/** Offers candidates to `top`, and returns it. */
export function* passMessages(
  pass: MessagePass,
  top: TopSessions,
  blobs: Blobs,
  isLate: () => boolean,
): SansIo<{ readonly top: TopSessions; readonly partial: boolean }> {
  // The tail first: it is in memory, and recent messages are often the target.
  for (let number = pass.views.length - 1; number >= 0; number--) {
    const { source } = pass.views[number] as View;
    const chunks = Math.ceil(source.slots / CHUNK_DOCUMENTS);
    const batch = BATCH_DOCUMENTS / CHUNK_DOCUMENTS;
    for (let first = 0; first < chunks; first += batch) {
      if (isLate()) return { top, partial: true };
      const last = Math.min(chunks, first + batch);
      const loaded = yield* blobs.complete(() => {
        const chunkNumbers = Array.from({ length: last - first }, (_, i) => first + i);
        return chunkNumbers.map((chunk) => loadChunk(pass, number, chunk));
      });
      for (const [i, chunk] of loaded.entries()) {
        if (chunk === null || chunk === undefined) continue;
        const before = [...top.list()];
        let isAgain = false;
        yield* blobs.complete(() => {
          // An attempt with missing blobs may have offered in the wrong order.
          if (isAgain) top.restore(before);
          isAgain = true;
          score(pass, number, first + i, chunk, top);
        });
      }
    }
  }
  return { top, partial: false };
}

/** The query's lists in one field of a chunk, in query order. Undefined if a blob is missing. */
function fieldLists(
  terms: readonly WeightedTerm[],
  view: number,
  chunk: number,
  field: Pick<ScoredList, "columns" | "norm">,
): ScoredList[] | undefined {
  const { columns, norm } = field;
  const lists: ScoredList[] = [];
  let isComplete = true;
  for (const { inViews, weight } of terms) {
    const found = inViews[view];
    if (found === null || found === undefined) continue;
    const list = found.list(chunk);
    if (list === undefined) isComplete = false;
    else if (list !== null) lists.push({ list, weight, columns, norm });
  }
  return isComplete ? lists : undefined;
}

/** Lists of texts first, then of outputs. Undefined if a blob is missing; all were requested. */
function chunkLists(
  { terms, norm, outputs, outputNorm }: MessagePass,
  view: number,
  chunk: number,
  columns: ChunkColumns,
): ScoredList[] | undefined {
  const said = fieldLists(terms, view, chunk, { columns, norm });
  if (columns.outputs === undefined) return said;
  const given = fieldLists(outputs, view, chunk, { columns: columns.outputs, norm: outputNorm });
  return said && given && [...said, ...given];
}

/** Null if no term matches. */
function loadChunk(
  pass: MessagePass,
  number: number,
  chunk: number,
): LoadedChunk | null | undefined {
  const view = pass.views[number] as View;
  const columns = view.source.columns(chunk);
  // Postings of a chunk without a session in scope are not read.
  if (columns !== undefined && !mayHold(columns, pass.filter.sessions)) return null;
  const lists = columns && chunkLists(pass, number, chunk, columns);
  if (lists?.length === 0) return null;
  const filter = columns && chunkFilter(view, chunk, columns, pass.filter);
  if (filter === null) return null;
  if (lists === undefined || columns === undefined || filter === undefined) return undefined;
  return { columns, lists, filter };
}

/** Whether a session in scope may lie in the chunk's range. */
function mayHold({ sessions, count }: ChunkColumns, scope: Uint32Array | undefined): boolean {
  if (scope === undefined) return true;
  const at = lowerBound(scope, sessions[0] as number, 0, scope.length);
  return at < scope.length && (scope[at] as number) <= (sessions[count - 1] as number);
}

function score(
  pass: MessagePass,
  view: number,
  chunk: number,
  { columns, lists, filter }: LoadedChunk,
  top: TopSessions,
): void {
  const base = chunk * CHUNK_DOCUMENTS;
  const { boosts } = pass;
  const boostOf = (session: number) => (boosts.size === 0 ? 0 : (boosts.get(session) ?? 0));
  const task: ChunkTask = {
    lists,
    columns,
    roleWeights: pass.roleWeights,
    maxBoost: pass.maxBoost,
    open: filter.open,
    isOpen: filter.isOpen,
    accepts: filter.accepts,
    threshold: () => top.threshold,
    matters: (document, points) => {
      if (pass.isByMessage) return true;
      const session = columns.sessions[document] as number;
      return points + boostOf(session) >= top.bestOf(session);
    },
    offer: (document, points) => {
      const session = columns.sessions[document] as number;
      const key = pass.isByMessage ? view * 2 ** 32 + base + document : session;
      top.offer(session, points + boostOf(session), view, base + document, key);
    },
  };
  const { drivers } = filter.conditions;
  if (drivers === null) {
    scoreChunk(task);
    return;
  }
  // A required term restricts scoring to its messages.
  for (const driver of drivers) {
    const documents = documentsOf(driver);
    // An index, because an iterator takes longer than all else here.
    for (let i = 0; i < driver.count; i++) {
      const document = documents[i] as number;
      if (!filter.accepts(document)) continue;
      const role = pass.roleWeights[columns.roles[document] as number] as number;
      task.offer(document, exactScore(task, document) * role);
    }
  }
}
