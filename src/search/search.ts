/**
 * One search: parses the query, finds and ranks candidates, and builds hits with their windows.
 *
 * An unreadable segment is left out, and the answer says so.
 */

import { lateNotes, showHits } from "./hits/show-hits.ts";
import { Blobs } from "./index/blobs.ts";
import type { SansIo } from "./port.ts";
import { analyzeQuery } from "./query/analyze-query.ts";
import { parseQuery } from "./query/parse-query.ts";
import type { TermQuery } from "./query/query.ts";
import { type RankedHit, rankByMeaning } from "./rank-by-meaning.ts";
import {
  BY_WORDS_ONLY,
  type MeaningQuery,
  type SearchAnswer,
  type SearchRequest,
} from "./request.ts";
import { readMessageFilter } from "./score/filter/read-filter.ts";
import { type Candidates, findCandidates, roomOf } from "./score/find-candidates.ts";
import type { CandidateSearch } from "./score/first-pass.ts";
import type { TenantCache } from "./search-cache.ts";
import { readSnapshot, type Snapshot, withoutUnreadable } from "./snapshot.ts";

/** Milliseconds after the deadline for ranking the hits so far; then they stay in their order. */
const RANKING_GRACE_MS = 100;

export function* searchSessions(request: SearchRequest, cache: TenantCache): SansIo<SearchAnswer> {
  const until = cache.clock() + request.deadlineMs;
  const isAbandoned = request.isAbandoned ?? (() => false);
  const isLate = () => cache.clock() > until || isAbandoned();
  const isOver = () => cache.clock() > until + RANKING_GRACE_MS || isAbandoned();
  const { now, match } = request;
  const { asYouType = false } = request;
  const parsed = parseQuery(request.query, { now, match, asYouType });
  const query = analyzeQuery(parsed, cache.indexing.language);
  return yield* withoutUnreadable((unreadable) =>
    searchOnce(request, query, cache, unreadable, { isLate, isOver }),
  );
}

/** The number of word-ranked sessions that the vectors re-rank. */
const WIDE = 40;

/**
 * The BM25 part of a hybrid search. The depth is left out: a session's nearest vectors measure its
 * subject.
 */
function forFusion(request: SearchRequest): SearchRequest {
  const limit = Math.max(WIDE, roomOf(request));
  return { ...request, limit, profile: { ...request.profile, depth: 0 } };
}

/** A hit by time has at least this share of the best score: the others are no better than noise. */
const LEAST_BY_TIME = 0.5;

function newestFirst(ranked: readonly RankedHit[]): readonly RankedHit[] {
  const least = LEAST_BY_TIME * (ranked[0]?.score ?? 0);
  const timeOf = ({ message }: RankedHit) => message?.time ?? 0;
  return ranked.filter(({ score }) => score >= least).sort((a, b) => timeOf(b) - timeOf(a));
}

/** Undefined if words alone rank: vectors of different embedders cannot be compared. */
function usableMeaning(
  { meaning, profile }: SearchRequest,
  { vectors }: Snapshot,
): MeaningQuery | undefined {
  if (meaning === undefined || profile.meaning === 0) return undefined;
  const isOurs =
    vectors?.embedder === meaning.embedder && vectors.dimensions === meaning.vector.length;
  return isOurs ? meaning : undefined;
}

function meaningNotes({ meaning, profile }: SearchRequest, { vectors }: Snapshot): string[] {
  if (meaning === undefined || profile.meaning === 0 || vectors === undefined) return [];
  if (vectors.embedder !== meaning.embedder) {
    return [
      `${BY_WORDS_ONLY}: the vectors of this store are of ${vectors.embedder}, not of ${meaning.embedder}.`,
    ];
  }
  const { length } = meaning.vector;
  if (vectors.dimensions === length) return [];
  return [
    `${BY_WORDS_ONLY}: the vectors of this store have ${vectors.dimensions} dimensions, not ${length}.`,
  ];
}

function* searchOnce(
  request: SearchRequest,
  query: TermQuery,
  cache: TenantCache,
  unreadable: ReadonlySet<number>,
  time: Pick<CandidateSearch, "isLate" | "isOver">,
): SansIo<SearchAnswer> {
  const blobs = new Blobs(cache.cache);
  let snapshot: Snapshot;
  let found: Candidates;
  let ranked: readonly RankedHit[];
  let meaning: MeaningQuery | undefined;
  try {
    snapshot = yield* readSnapshot(cache, blobs, unreadable, time.isLate);
    const filter = yield* readMessageFilter(request, query, snapshot.views, blobs, cache);
    meaning = usableMeaning(request, snapshot);
    found = yield* findCandidates({
      request: meaning === undefined ? request : forFusion(request),
      query,
      filter,
      snapshot,
      cache: cache,
      blobs,
      ...time,
    });
    ranked =
      meaning === undefined
        ? found.ranked
        : yield* rankByMeaning({ request, meaning, filter, snapshot, cache, blobs }, found.ranked);
  } finally {
    blobs.close();
  }
  const sorted = request.sort === "time" ? newestFirst(ranked) : ranked;
  const { hits, ...page } = yield* showHits(sorted, request, query, found.alike, cache);
  return {
    hits,
    ...page,
    ...(found.total === undefined ? {} : { total: found.total }),
    notes: [
      ...query.notes,
      ...found.notes,
      ...lateNotes(hits, request),
      ...meaningNotes(request, snapshot),
    ],
    indexing: snapshot.indexing,
    degraded: unreadable.size > 0,
    partial: found.partial || snapshot.partial,
    unreadable: [...unreadable],
    lag: snapshot.lag,
    ...(request.explain ? { explanation: found.explanation } : {}),
  };
}
