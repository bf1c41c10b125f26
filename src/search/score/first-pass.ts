/** The first pass of a search: the best sessions by their best message, on their active paths. */

import type { Blobs } from "../index/blobs.ts";
import type { SansIo } from "../port.ts";
import type { TermQuery } from "../query/query.ts";
import type { SearchRequest } from "../request.ts";
import type { TenantCache } from "../search-cache.ts";
import type { Snapshot } from "../snapshot.ts";
import { isActive, type Paths } from "./active-paths.ts";
import type { MessageFilter } from "./filter/filter.ts";
import { type MessagePass, passMessages } from "./message-pass.ts";
import { bestMessage } from "./rank.ts";
import { SessionScorer } from "./session/session-scores.ts";
import { type Best, TopSessions } from "./session/top-sessions.ts";

export interface CandidateSearch {
  readonly request: SearchRequest;
  readonly query: TermQuery;
  readonly filter: Omit<MessageFilter, "path">;
  readonly snapshot: Snapshot;
  readonly cache: TenantCache;
  readonly blobs: Blobs;
  /** Ends the search for candidates. */
  readonly isLate: () => boolean;
  /** Ends the ranking. */
  readonly isOver: () => boolean;
}

/** Sessions with the largest boosts are scored first: they bound the gain of the others. */
const BOOSTED_FIRST = 64;
/**
 * Up to this many sessions in scope are scored one by one, instead of a pass over all messages. In
 * a larger store the limit is higher: scoring a session costs as much as passing over some 16,384
 * messages.
 */
const FEW_SESSIONS = 64;
const MESSAGES_PER_SESSION = 16_384;
/**
 * This many are scored even after the deadline, so that a search of a few sessions is never cut
 * short.
 */
export const ALWAYS_SCORED = 64;

/**
 * Most sessions have no branches, so the first pass assumes unknown messages to be active. If a
 * good message is not, the pass runs again with the loaded paths and a deeper limit.
 */
export function* passUntilPathsAreKnown(
  search: CandidateSearch,
  pass: Omit<MessagePass, "maxBoost">,
  paths: Paths,
  wanted: number,
): SansIo<{ readonly top: TopSessions; readonly partial: boolean }> {
  let whole: TopSessions | undefined;
  for (let limit = wanted; ; limit *= 2) {
    const found = yield* passOnce(search, pass, limit);
    if (search.request.branches === "all") return found;
    const unknown = found.top.list().filter(({ session }) => paths.known(session) === undefined);
    if (unknown.length > 0) yield* paths.find(unknown.map(({ session }) => session));
    // The deadline passed: an earlier complete pass is better than this one.
    const best = found.partial ? (whole ?? found.top) : found.top;
    const active = yield* search.blobs.complete(() =>
      best.filter((each) => isActive(pass.views, each, paths)),
    );
    if (found.partial) return { top: active, partial: true };
    if (active.list().length === best.list().length) return found;
    whole = found.top;
  }
}

/** True if a session may match by title or summary alone: the filter has no message condition. */
export function isOpen(filter: MessageFilter): boolean {
  return (
    filter.required.length === 0 &&
    filter.excluded.length === 0 &&
    filter.roles.every((role) => role === 1) &&
    filter.since === Number.NEGATIVE_INFINITY &&
    filter.until === Number.POSITIVE_INFINITY &&
    filter.before === Number.POSITIVE_INFINITY
  );
}

function maxOf(boosts: ReadonlyMap<number, number>): number {
  return Math.max(0, ...boosts.values());
}

function* passOnce(
  { blobs, isLate, snapshot }: CandidateSearch,
  pass: Omit<MessagePass, "maxBoost">,
  limit: number,
): SansIo<{ readonly top: TopSessions; readonly partial: boolean }> {
  const { views, boosts, filter } = pass;
  const isBefore = (a: Best, b: Best) => {
    const x = views[a.view]?.source.facts(a.document);
    const y = views[b.view]?.source.facts(b.document);
    if ((x?.time ?? 0) !== (y?.time ?? 0)) return (x?.time ?? 0) > (y?.time ?? 0);
    if (a.session !== b.session) return a.session < b.session;
    return (x?.sequence ?? 0) < (y?.sequence ?? 0);
  };
  if (pass.isByMessage) {
    const best = new TopSessions(limit, isBefore);
    const found = yield* passMessages({ ...pass, maxBoost: maxOf(boosts) }, best, blobs, isLate);
    const [[session, boost] = [0, 0]] = boosts;
    if (found.top.list().length > 0 || boost === 0 || !isOpen(filter)) return found;
    found.top.offer(session, boost, -1, -1);
    return found;
  }
  const byBoost = [...boosts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const most = Math.max(FEW_SESSIONS, snapshot.messages.documents / MESSAGES_PER_SESSION);
  const few = filter.sessions !== undefined && filter.sessions.length <= most;
  const first: readonly (readonly [number, number])[] = few
    ? Array.from(filter.sessions, (session) => [session, boosts.get(session) ?? 0])
    : byBoost.slice(0, BOOSTED_FIRST);
  const maxBoost = byBoost[BOOSTED_FIRST]?.[1] ?? 0;
  // These sessions are known to be in scope.
  const open = { ...filter, sessions: undefined };
  const scorer = new SessionScorer({ ...pass, filter: open, maxBoost: 0 });
  let isCut = false;
  const top = yield* blobs.complete(() => {
    const attempt = new TopSessions(limit, isBefore);
    for (const [i, [session, boost]] of first.entries()) {
      isCut ||= i >= ALWAYS_SCORED && isLate();
      if (isCut) break;
      const scored = scorer.score(session, filter.path?.(session));
      const best = scored && bestMessage(scored, pass.roleWeights);
      if (best === undefined) continue;
      const points = best.score * (pass.roleWeights[best.role] as number);
      attempt.offer(session, points + boost, best.view, best.document);
    }
    return attempt;
  });
  if (isOpen(filter)) {
    for (const [session, boost] of byBoost) {
      if (boost < top.threshold) break;
      top.offer(session, boost, -1, -1);
    }
  }
  if (few) return { top, partial: isCut };
  return yield* passMessages({ ...pass, maxBoost }, top, blobs, isLate);
}
