/**
 * Hybrid ranking: linear fusion of BM25 and vector similarity.
 *
 * A weighted sum of normalised scores: `score / best + weight * similarity`, times `best`, where
 * `best` is the best score by words. The similarity of a session is that of its nearest vector, and
 * of its nearest five on average. The weight grows where words cover little of the query. Sessions
 * without a query word enter by their similarity alone.
 */

import type { Blobs } from "./index/blobs.ts";
import { CHUNK_DOCUMENTS } from "./index/layout.ts";
import { lowerBound } from "./index/lists/term-list.ts";
import type { MessageFacts } from "./index/message-columns.ts";
import type { SansIo } from "./port.ts";
import type { MeaningQuery, SearchRequest } from "./request.ts";
import { Paths } from "./score/active-paths.ts";
import { type ChunkFilter, chunkFilter, type MessageFilter } from "./score/filter/filter.ts";
import type { RankingProfile } from "./score/profile.ts";
import { byRank, type Ranked } from "./score/rank.ts";
import { dialogueShare, SAMPLED_SESSIONS } from "./score/session/dialogue-share.ts";
import type { TenantCache } from "./search-cache.ts";
import type { Snapshot, View } from "./snapshot.ts";
import { findNearest, findNearestOf, type Near } from "./vectors/nearest.ts";
import type { VectorColumns } from "./vectors/vector-columns.ts";
import { isGone } from "./vectors/vector-liveness.ts";

/** The limit of sessions that vectors alone may add. */
const ADDED_SESSIONS = 40;
/** The number of nearest vectors that they are chosen from. */
const LOOKED_AT = 400;
/** The nearest vectors of a session that measure its subject. */
const SUBJECT_VECTORS = 5;
/** The weight of a session's nearest vector, and of the mean of the five, beside 1 for a message's own. */
const SESSION_WEIGHT = 1.5;

/** A hit and its cosine; without vectors, `similarity` is undefined. */
export interface RankedHit extends Ranked {
  readonly similarity?: number;
}

export interface MeaningSearch {
  readonly request: SearchRequest;
  readonly meaning: MeaningQuery;
  readonly filter: Omit<MessageFilter, "path">;
  readonly snapshot: Snapshot;
  readonly cache: TenantCache;
  readonly blobs: Blobs;
}

/** `byWords` is sorted, best first. */
export function* rankByMeaning(
  search: MeaningSearch,
  byWords: readonly Ranked[],
): SansIo<readonly RankedHit[]> {
  const { request, meaning, snapshot, cache, filter } = search;
  const { vectors } = cache;
  const segments = yield* vectors.open(snapshot.vectors?.segments ?? []);
  const isByMessage = isOfMessages(request);
  const known = new Set(byWords.map(({ session }) => session));
  let near: Near[];
  let others: Near[];
  try {
    const query = { vector: meaning.vector, accepts: acceptsOf(filter, snapshot) };
    const nearest = yield* findNearest(query, segments, vectors);
    others = nearest.filter(
      ({ session, similarity }) =>
        similarity >= meaning.floor && (isByMessage || !known.has(session)),
    );
    const added = [...new Set(others.map(({ session }) => session))].slice(0, ADDED_SESSIONS);
    const sessions = [...new Set([...known, ...added])];
    const own = yield* findNearestOf(sessions, SUBJECT_VECTORS, query, segments, vectors);
    near = isByMessage ? [...nearest, ...own] : own;
  } finally {
    vectors.release(segments);
  }
  const weight = request.profile.meaning * trustInMeaning(byWords, request);
  // A copied line stays first: nothing is more similar.
  const best = byWords.reduce((most, { score, line = 0 }) => Math.max(most, score - line), 0) || 1;
  const subjectOf = subjects(near);
  const add = (ranked: Ranked, similarity: number): RankedHit => {
    const own = Math.max(0, similarity);
    const weighed = isByMessage
      ? own
      : SESSION_WEIGHT * (own + Math.max(0, subjectOf(ranked.session)));
    const points = weight * best * weighed;
    const parts = { ...ranked.parts, meaning: points };
    return { ...ranked, score: ranked.score + points, parts, similarity };
  };
  const similarityOf = similarities(near, isByMessage);
  const found = yield* placeNear(search, others, byWords);
  const all = [
    ...byWords.map((each) => add(each, similarityOf(each))),
    ...found.map((each) => add(each.ranked, each.similarity)),
  ].sort(byRank);
  return isByMessage ? withinSessions(all, request) : all;
}

/** Below this coverage by weight, words hardly match the query. */
const HARDLY_COVERED = 1 / 4;
/** How steeply the similarity's weight grows below that, and its limit. */
const STEEPNESS = 20;
const MAX_TRUST = 64;

/**
 * The factor of the similarity's weight: the share of talk among the best sessions by words. Only
 * talk is embedded, so vectors cannot match a path, an error or an identifier in tool traffic.
 *
 * Where no session covers a good part of the query, the factor grows with the uncovered part,
 * because the matching words then belong to other subjects. Measurements in docs/decisions.
 */
function trustInMeaning(byWords: readonly Ranked[], { profile }: SearchRequest): number {
  const covered = coveredByWords(byWords, profile);
  if (covered < HARDLY_COVERED) {
    return Math.min(MAX_TRUST, (HARDLY_COVERED / covered) ** STEEPNESS);
  }
  return dialogueShare(byWords.slice(0, SAMPLED_SESSIONS).map(({ message }) => message?.role));
}

/** The largest share of the query's words, by weight, that a session has; 1 if unknown. */
function coveredByWords(byWords: readonly Ranked[], { coverage }: RankingProfile): number {
  const shares = byWords.flatMap(({ covered }) => covered ?? []);
  if (shares.length > 0) return Math.max(...shares);
  // Coverage is scaled by the best score without it.
  const best = byWords.reduce(
    (most, { score, parts }) => Math.max(most, score - parts.coverage),
    0,
  );
  if (coverage === 0 || best === 0) return 1;
  return byWords.reduce((most, { parts }) => Math.max(most, parts.coverage), 0) / (coverage * best);
}

/** Whether single messages of one session are compared: then each has its own similarity. */
function isOfMessages({ reach, perSession }: SearchRequest): boolean {
  return reach === "messages" || perSession > 1;
}

/** At most `perSession` of each session. */
function withinSessions(
  ranked: readonly RankedHit[],
  { perSession }: SearchRequest,
): readonly RankedHit[] {
  const counts = new Map<number, number>();
  return ranked.filter(({ session }) => {
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    return count <= perSession;
  });
}

/** A session uses its nearest piece, a message the nearest piece that overlaps it. */
function similarities(near: readonly Near[], isByMessage: boolean): (ranked: Ranked) => number {
  const bySession = Map.groupBy(near, ({ session }) => session);
  return ({ session, message }) => {
    const own = bySession.get(session) ?? [];
    if (!isByMessage || message === null) return own[0]?.similarity ?? 0;
    const { sequence } = message;
    const of = own.find((each) => each.sequence <= sequence && sequence <= each.last);
    return of?.similarity ?? 0;
  };
}

/** The mean similarity of a session's nearest vectors, a measure of its subject. */
function subjects(near: readonly Near[]): (session: number) => number {
  const bySession = Map.groupBy(near, ({ session }) => session);
  return (session) => {
    const own = bySession.get(session) ?? [];
    return own.reduce((sum, { similarity }) => sum + similarity, 0) / (own.length || 1);
  };
}

/** The part of the filter that needs no message. */
function acceptsOf(
  { sessions: scope, barred, roles, since, until, before }: Omit<MessageFilter, "path">,
  { gone }: Snapshot,
): (columns: VectorColumns, i: number) => boolean {
  const isDead = isGone(gone);
  const [from, to] = [Math.floor(since / 1_000), Math.floor(until / 1_000)];
  return (columns, i) => {
    // A note's role is no message's.
    if (roles[columns.roles[i] as number] !== 1) return false;
    const session = columns.sessions[i] as number;
    if (scope !== undefined && scope[lowerBound(scope, session, 0, scope.length)] !== session) {
      return false;
    }
    if (barred?.has(session)) return false;
    const second = columns.seconds[i] as number;
    if (second < from || second > to || (columns.sequences[i] as number) >= before) return false;
    return !isDead(columns, i);
  };
}

interface Placed {
  readonly ranked: Ranked;
  readonly similarity: number;
}

/** The messages of vectors, one per session, that pass the filter. */
function* placeNear(
  { request, filter, snapshot, cache, blobs }: MeaningSearch,
  near: readonly Near[],
  byWords: readonly Ranked[],
): SansIo<readonly Placed[]> {
  const looked = near.slice(0, LOOKED_AT);
  const paths = new Paths(cache);
  const sessions = [...new Set(looked.map(({ session }) => session))];
  const isAll = request.branches === "all";
  const unknown = isAll ? [] : sessions.filter((session) => paths.known(session) === undefined);
  if (unknown.length > 0) yield* paths.find(unknown);
  const whole: MessageFilter = { ...filter, path: isAll ? undefined : paths.known };
  const shown = new Set(byWords.map(({ session, message }) => `${session}/${message?.sequence}`));
  return yield* blobs.complete(() => {
    const placed: Placed[] = [];
    const taken = new Set<number>();
    const counts = new Map<number, number>();
    const filters = new Map<string, ChunkFilter | null | undefined>();
    for (const { session, sequence, similarity } of looked) {
      if (placed.length >= ADDED_SESSIONS) break;
      if ((counts.get(session) ?? 0) >= request.perSession || shown.has(`${session}/${sequence}`))
        continue;
      const message = findMessage(snapshot.views, session, sequence, whole, filters);
      if (message === undefined || taken.has(session * 2 ** 32 + sequence)) continue;
      taken.add(session * 2 ** 32 + sequence);
      counts.set(session, (counts.get(session) ?? 0) + 1);
      const parts = { message: 0, neighbours: 0, session: 0, boost: 0, coverage: 0 };
      placed.push({ ranked: { session, message, score: 0, parts }, similarity });
    }
    return placed;
  });
}

/** Undefined if missing, filtered out, or in a missing blob. */
function findMessage(
  views: readonly View[],
  session: number,
  sequence: number,
  filter: MessageFilter,
  filters: Map<string, ChunkFilter | null | undefined>,
): Ranked["message"] | undefined {
  for (const [number, view] of views.entries()) {
    for (const { from, to } of view.source.slotsOf(session) ?? []) {
      const document = findSequence((at) => view.source.facts(at), from, to, sequence);
      if (document === undefined) continue;
      const chunk = Math.floor(document / CHUNK_DOCUMENTS);
      const columns = view.source.columns(chunk);
      const facts = view.source.facts(document);
      if (columns === undefined || facts === undefined) return undefined;
      const key = `${number}/${chunk}`;
      if (!filters.has(key)) filters.set(key, chunkFilter(view, chunk, columns, filter));
      const inChunk = document % CHUNK_DOCUMENTS;
      if (filters.get(key)?.accepts(inChunk) !== true) return undefined;
      const role = columns.roles[inChunk] as number;
      const length = columns.lengths[inChunk] as number;
      return { ...facts, view: number, document, role, length, score: 0 };
    }
  }
  return undefined;
}

/** Documents of a range are ordered by sequence. */
function findSequence(
  factsOf: (document: number) => MessageFacts | undefined,
  from: number,
  to: number,
  sequence: number,
): number | undefined {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const facts = factsOf(middle);
    if (facts === undefined) return undefined;
    if (facts.sequence < sequence) low = middle + 1;
    else high = middle;
  }
  return low < to && factsOf(low)?.sequence === sequence ? low : undefined;
}
