/**
 * One search: what the query says, the candidates, their order, and the hits with their windows.
 *
 * A segment that cannot be read is left out, and the answer says so.
 */

import { lateNotes, showHits } from "./hits/show-hits.ts";
import { Blobs } from "./index/blobs.ts";
import type { Asking } from "./port.ts";
import { analyzeQuery } from "./query/analyze-query.ts";
import { parseQuery } from "./query/parse-query.ts";
import type { TermQuery } from "./query/query.ts";
import type { SearchAnswer, SearchRequest } from "./request.ts";
import { readMessageFilter } from "./score/filter/read-filter.ts";
import { type CandidateSearch, type Candidates, findCandidates } from "./score/find-candidates.ts";
import type { TenantCache } from "./search-cache.ts";
import { readSnapshot, type Snapshot, withoutUnreadable } from "./snapshot.ts";

/**
 * Milliseconds after the deadline for ranking the hits so far; after that they stay as they are.
 */
const RANKING_GRACE_MS = 100;

export function* searchSessions(request: SearchRequest, cache: TenantCache): Asking<SearchAnswer> {
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

function* searchOnce(
  request: SearchRequest,
  query: TermQuery,
  cache: TenantCache,
  unreadable: ReadonlySet<number>,
  time: Pick<CandidateSearch, "isLate" | "isOver">,
): Asking<SearchAnswer> {
  const blobs = new Blobs(cache.cache);
  let snapshot: Snapshot;
  let found: Candidates;
  try {
    snapshot = yield* readSnapshot(cache, blobs, unreadable, time.isLate);
    const filter = yield* readMessageFilter(request, query, snapshot.views, blobs, cache);
    found = yield* findCandidates({
      request,
      query,
      filter,
      snapshot,
      cache: cache,
      blobs,
      ...time,
    });
  } finally {
    blobs.close();
  }
  const hits = yield* showHits(found.ranked, request, query, found.alike, cache);
  return {
    hits,
    notes: [...query.notes, ...found.notes, ...lateNotes(hits, request)],
    indexing: snapshot.indexing,
    degraded: unreadable.size > 0,
    partial: found.partial || snapshot.partial,
    unreadable: [...unreadable],
    lag: snapshot.lag,
    ...(request.explain ? { explanation: found.explanation } : {}),
  };
}
