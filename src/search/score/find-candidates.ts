/** Finds the best messages of a snapshot for a query, in final order. */

import { CHUNK_DOCUMENTS, MESSAGE_FIELDS, ROLES, SESSION_FIELDS } from "../index/layout.ts";
import { lowerBound } from "../index/lists/term-list.ts";
import { actorTerm } from "../index/special-terms.ts";
import { ask, type SansIo } from "../port.ts";
import type { SearchExplanation, SearchRequest } from "../request.ts";
import type { View } from "../snapshot.ts";
import { Paths } from "./active-paths.ts";
import { idf, lengthNorm } from "./bm25.ts";
import { findBoosts } from "./boosts.ts";
import { countSessions } from "./count-sessions.ts";
import { MAX_EXPANSIONS } from "./filter/conditions.ts";
import type { MessageFilter } from "./filter/filter.ts";
import {
  ALWAYS_SCORED,
  type CandidateSearch,
  isOpen,
  passUntilPathsAreKnown,
} from "./first-pass.ts";
import { type RunGain, weighRuns } from "./lines.ts";
import { MESSAGE_CANDIDATES, rankMessages } from "./message/rank-messages.ts";
import type { MessagePass, WeightedTerm } from "./message-pass.ts";
import { findMisspelt } from "./misspelt.ts";
import { findNames } from "./names.ts";
import { DEFAULT_PROFILE, type RankingProfile } from "./profile.ts";
import { type QueryTerm, resolveMessageTerm } from "./query-terms.ts";
import { byRank, type Ranked, type Ranking } from "./rank.ts";
import { findRuns, type Run } from "./runs.ts";
import { rankSessions } from "./session/rank-sessions.ts";
import type { Best, TopSessions } from "./session/top-sessions.ts";

export interface Candidates {
  /** Best first; more than `limit`, because some may be copies of others. */
  readonly ranked: readonly Ranked[];
  readonly notes: readonly string[];
  /** Replacements of misspelt words. */
  readonly alike: readonly string[];
  readonly partial: boolean;
  /** About how many sessions have most of the query; only if it was asked for. */
  readonly total?: number;
  readonly explanation: SearchExplanation;
}

/** The limit of scored terms: the rarest matter most. */
const MAX_TERMS = 64;
/** The fields in which prefixes are expanded. */
const PREFIX_FIELDS = [...MESSAGE_FIELDS, ...SESSION_FIELDS] as const;
/** Sessions that have the query as a run and are not among the best by their words. */
const ADDED_RUNS = 20;
/** Candidates that are always scored as a whole, and the share of the best score that others need. */
const ALWAYS_RANKED = 30;
const LEAST_SHARE = 0.5;
const NO_BOOSTS: ReadonlyMap<number, number> = new Map();
/** Hits beyond the limit, in case some are copies, or sessions that only asked. */
const SPARE = 28;
/** The best hits, which are sorted by time. */
const SORTED = 100;

export function* findCandidates(search: CandidateSearch): SansIo<Candidates> {
  const { request, snapshot, blobs, filter } = search;
  const { profile } = request;
  const { views } = snapshot;
  const { terms, outputs, notes, alike } = yield* findTerms(search);
  const averageLength = snapshot.messages.totalLength / Math.max(1, snapshot.messages.documents);
  const queryTerms = terms.map(({ term }) => term).filter(({ label }) => !label.startsWith("@"));
  const { sessions, barred } = filter;
  const isInScope = (session: number) =>
    barred?.has(session) !== true &&
    (sessions === undefined ||
      sessions[lowerBound(sessions, session, 0, sessions.length)] === session);
  const isByMessage = ranksMessages(request);
  const boosts =
    (yield* blobs.complete(() => findBoosts(views, queryTerms, profile, isInScope))) ?? new Map();

  const paths = new Paths(search.cache);
  const pass: Omit<MessagePass, "maxBoost"> = {
    views,
    terms,
    norm: lengthNorm(profile.bm25, averageLength),
    outputs,
    outputNorm: lengthNorm(
      profile.bm25,
      snapshot.outputs.totalLength / Math.max(1, snapshot.outputs.documents),
    ),
    roleWeights: Float64Array.from(ROLES, (role) => roleWeight(role, profile, isByMessage)),
    filter: { ...filter, path: request.branches === "all" ? undefined : paths.known },
    boosts: isByMessage ? NO_BOOSTS : boosts,
    isByMessage: isByMessage || isAlone(request, filter),
  };
  const most = isByMessage ? MESSAGE_CANDIDATES : profile.candidates;
  const wanted = Math.max(most, roomOf(request));
  const { top, partial } = yield* passUntilPathsAreKnown(search, pass, paths, wanted);
  const sessionCount =
    profile.session === 0 ? 1 : yield* ask<"sessionCount">({ need: "sessionCount" });
  const ranking: Ranking = {
    profile,
    roleWeights: pass.roleWeights,
    terms,
    passage: {
      neighbours: profile.neighbours,
      norm: lengthNorm(profile.passage, averageLength),
      covers: profile.coverage > 0,
    },
    sessionNorm: lengthNorm(
      profile.bm25,
      snapshot.messages.totalLength / Math.max(1, sessionCount),
    ),
    outputs,
    outputNorm: pass.outputNorm,
    boosts,
    perSession: request.perSession,
    verbatim: search.query.verbatim,
  };
  const total = request.total
    ? yield* countSessions({ views, terms, outputs, filter: pass.filter, blobs })
    : undefined;
  const { runs, partial: isRunsCut } = yield* findRuns(search, pass, paths);
  const { ranked, isCut } = yield* rankAll(search, top, pass, ranking, runs);
  return {
    ranked: ranked.sort(byRank).slice(0, roomOf(request)),
    notes,
    alike,
    partial: partial || isRunsCut || isCut,
    ...(total === undefined ? {} : { total }),
    explanation: {
      terms: terms.map(({ term, documents, weight }) => ({ term: term.label, documents, weight })),
      documents: snapshot.messages.documents,
      averageLength,
      segments: views.length - 1,
      candidates: top.list().length,
    },
  };
}

/** Hits to rank: those of the page and of earlier ones, or, to be sorted by time, many. */
export function roomOf({ limit, seen = [], sort }: SearchRequest): number {
  return Math.max(limit + seen.length, sort === "time" ? SORTED : 0) + SPARE;
}

/** Whether the first pass suffices: a session then scores by its best message alone. */
function isPlain({ profile, perSession }: SearchRequest): boolean {
  const { neighbours, session, recurrence, depth, coverage, verbatim, pairs } = profile;
  const more = neighbours + session + recurrence + depth + coverage + verbatim + pairs;
  return more === 0 && perSession === 1;
}

/**
 * Whether messages are ranked instead of sessions: several hits of a session were asked for. `plain`
 * ranks by its first pass alone.
 */
function ranksMessages({ profile, perSession, reach }: SearchRequest): boolean {
  return profile.neighbours > 0 && (perSession > 1 || reach === "messages");
}

/** Whether the first pass over the one session in scope ranks its messages, each by itself. */
function isAlone(
  { profile, perSession, limit, reach }: SearchRequest,
  { sessions }: Pick<MessageFilter, "sessions">,
): boolean {
  if (sessions?.length !== 1) return false;
  const { neighbours, session, recurrence, depth } = profile;
  const isBare = neighbours + session + recurrence + depth === 0;
  return reach === "messages" || (isBare && perSession >= limit);
}

/** The default's factors are chosen for sessions, so messages use what a caller changes of them. */
function roleWeight(
  role: (typeof ROLES)[number],
  { roles }: RankingProfile,
  isByMessage: boolean,
): number {
  const name = role === "acting" ? "tool" : role;
  return isByMessage ? roles[name] / DEFAULT_PROFILE.roles[name] : roles[name];
}

/** A result of the first pass without re-ranking. With a missing blob the attempt runs again. */
function rankBest(
  { session, score, view, document }: Best,
  { boosts, roleWeights }: Omit<MessagePass, "maxBoost">,
  views: readonly View[],
): Ranked {
  const boost = boosts.get(session) ?? 0;
  const parts = { message: score - boost, neighbours: 0, session: 0, boost, coverage: 0 };
  const source = views[view]?.source;
  const columns = source?.columns(Math.floor(document / CHUNK_DOCUMENTS));
  const facts = source?.facts(document);
  if (columns === undefined || facts === undefined) return { session, message: null, score, parts };
  const role = columns.roles[document % CHUNK_DOCUMENTS] as number;
  const length = columns.lengths[document % CHUNK_DOCUMENTS] as number;
  const own = (score - boost) / (roleWeights[role] as number);
  const message = { ...facts, view, document, role, length, score: own };
  return { session, message, score, parts };
}

/** `isCut`: the deadline passed, and the order is the first pass's. */
function* rankAll(
  { request, query, cache, blobs, isOver }: CandidateSearch,
  top: TopSessions,
  pass: Omit<MessagePass, "maxBoost">,
  ranking: Ranking,
  runs: ReadonlyMap<number, readonly Run[]>,
): SansIo<{ readonly ranked: Ranked[]; readonly isCut: boolean }> {
  const { views, filter } = pass;
  const best = top.list();
  let isCut = false;
  if (ranksMessages(request)) {
    const all = [...runs.values()].flat().map((run) => [run]);
    const gains = yield* weighRuns(all, { query, profile: request.profile, views, blobs, cache });
    const path = (session: number) => filter.path?.(session);
    const found = withRuns(best, gains);
    const ranked = yield* blobs.complete(() =>
      rankMessages(found, pass, path, gains, ranking.boosts),
    );
    const messages = upToEach(ranked ?? [], request.perSession);
    return { ranked: [...messages, ...sessionsAlone(messages, pass, ranking.boosts)], isCut };
  }
  if (!pass.isByMessage && !isPlain(request)) {
    const limit = roomOf(request);
    const known = worthScoring(best, request.seen === undefined ? 0 : limit).map(
      ({ session }) => session,
    );
    const added = [...runs.keys()].filter((session) => !known.includes(session));
    const sessions = [...known, ...added.slice(0, ADDED_RUNS)];
    const enough = (scored: number) => scored >= ALWAYS_SCORED && isOver();
    const bounds = { limit, blobs, isOver: enough };
    const ranked = yield* rankSessions(sessions, pass, ranking, { runs, query, cache }, bounds);
    if (ranked !== undefined) return { ranked, isCut };
    isCut = true;
  }
  const ranked = yield* blobs.complete(() => best.map((each) => rankBest(each, pass, views)));
  return { ranked, isCut };
}

/**
 * The candidates whose sessions are scored as a whole: that costs most of a search. One with half of
 * the best message's score did not rank among the first five in any measurement, among 140 sessions or
 * 100,000 other messages, and a tenth to a half of the time is saved.
 */
function worthScoring(best: readonly Best[], least: number): readonly Best[] {
  const worth = LEAST_SHARE * (best[0]?.score ?? 0);
  return best.filter(({ score }, i) => i < Math.max(ALWAYS_RANKED, least) || score >= worth);
}

/** The candidates, and messages with a run that are not among them. */
function withRuns(best: readonly Best[], gains: readonly RunGain[]): readonly Best[] {
  const known = new Set(best.map(({ view, document }) => `${view}/${document}`));
  const added = gains.filter(({ run }) => !known.has(`${run.view}/${run.document}`));
  return [...best, ...added.map(({ run }) => ({ ...run, key: -1, score: 0 }))];
}

/** The best of each session, at most `limit`. */
function upToEach(ranked: readonly Ranked[], limit: number): readonly Ranked[] {
  const counts = new Map<number, number>();
  return ranked.toSorted(byRank).filter(({ session }) => {
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    return count <= limit;
  });
}

/** Sessions that match by their title or the like, and by no message: after all messages. */
function sessionsAlone(
  messages: readonly Ranked[],
  { filter }: Pick<MessagePass, "filter">,
  boosts: ReadonlyMap<number, number>,
): readonly Ranked[] {
  if (!isOpen(filter)) return [];
  const known = new Set(messages.map(({ session }) => session));
  const least = messages.at(-1)?.score ?? Number.POSITIVE_INFINITY;
  return [...boosts].flatMap(([session, boost]) => {
    if (known.has(session) || boost === 0) return [];
    const parts = { message: 0, neighbours: 0, session: 0, boost, coverage: 0 };
    return [
      { session, message: null, score: Math.min(boost, least * (boost / (1 + boost))), parts },
    ];
  });
}

/** The query terms with matches, and their weights. */
function* findTerms(
  search: CandidateSearch,
): SansIo<Pick<Candidates, "notes" | "alike"> & Pick<MessagePass, "terms" | "outputs">> {
  const { query, snapshot, blobs } = search;
  const { views, messages } = snapshot;
  const { actor, misspelt, output } = search.request.profile;
  const notes: string[] = [];
  let standIns: readonly QueryTerm[] = [];
  const names = yield* findNames(query, misspelt > 0, views, blobs);
  notes.push(...names.notes);
  const wanted: QueryTerm[] = names.terms;
  if (actor > 0) {
    for (const { term, weight } of query.scored) {
      wanted.push({ label: actorTerm(term), terms: [actorTerm(term)], weight: weight * actor });
    }
  }
  for (const prefix of query.prefixes) {
    const lists = yield* blobs.complete(() =>
      views.flatMap(({ source }) =>
        PREFIX_FIELDS.map((field) => source.termsWithPrefix(field, prefix, MAX_EXPANSIONS + 1)),
      ),
    );
    const terms = [...new Set(lists.flatMap((list) => list ?? []))].sort();
    // `asYouType` appends a `*` that the user did not type.
    if (terms.length > MAX_EXPANSIONS && search.request.query.includes("*")) {
      notes.push(
        `${prefix}* matches more than ${MAX_EXPANSIONS} words; only the first ${MAX_EXPANSIONS} count`,
      );
    }
    wanted.push({ label: `${prefix}*`, terms: terms.slice(0, MAX_EXPANSIONS), weight: 1 });
  }
  if (misspelt > 0 && !search.isLate()) {
    const alike = yield* findMisspelt(query.words, misspelt, views, blobs);
    standIns = alike.terms;
    wanted.push(...standIns);
    notes.push(...alike.notes);
  }
  const resolved = yield* blobs.complete(() =>
    wanted.map((term) => resolveMessageTerm(views, term)),
  );
  let terms = resolved
    .filter((term) => term !== undefined)
    .map((term) => ({
      ...term,
      weight: term.term.weight * idf(messages.documents, term.documents),
    }));
  // The other terms may be in titles and the like.
  const inMessages = terms.filter(({ documents }) => documents > 0);
  if (inMessages.length > MAX_TERMS) {
    const rarest = inMessages.toSorted((a, b) => a.documents - b.documents).slice(0, MAX_TERMS);
    terms = terms.filter((term) => rarest.includes(term));
    notes.push(
      `the query has more than ${MAX_TERMS} different words; only the rarest ${MAX_TERMS} count`,
    );
  }
  const alike = standIns.flatMap((each) => each.terms);
  const outputs = output === 0 ? [] : yield* findOutputTerms(search, wanted);
  return { terms: terms.filter(({ weight }) => weight > 0), outputs, notes, alike };
}

/** The same terms in tool outputs, with their own document frequencies. */
function* findOutputTerms(
  { snapshot, blobs, request }: CandidateSearch,
  wanted: readonly QueryTerm[],
): SansIo<readonly WeightedTerm[]> {
  const { views, outputs } = snapshot;
  if (outputs.documents === 0) return [];
  // The author is a term of the message field only.
  const words = wanted.filter(({ label }) => !label.startsWith("@"));
  const resolved = yield* blobs.complete(() =>
    words.map((term) => resolveMessageTerm(views, term, "output")),
  );
  return resolved
    .filter((term) => term !== undefined && term.documents > 0)
    .map((term) => ({
      ...(term as WeightedTerm),
      weight:
        request.profile.output *
        (term as WeightedTerm).term.weight *
        idf(outputs.documents, (term as WeightedTerm).documents),
    }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MAX_TERMS);
}
