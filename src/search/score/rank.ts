/** Ranks the best candidates in their final order. */

import { ROLES } from "../index/layout.ts";
import type { MessageFacts } from "../index/message-columns.ts";
import type { LengthNorm } from "./bm25.ts";
import { ECHO, type WeighedRun } from "./coverage.ts";
import type { WeightedTerm } from "./message-pass.ts";
import type { Passage } from "./passage-scores.ts";
import type { RankingProfile } from "./profile.ts";
import { recurrenceOf } from "./session/recurrence.ts";
import {
  type ScoredMessage,
  type ScoredSession,
  type ScoredSpot,
  sessionScore,
} from "./session/session-scores.ts";

/** A found message and the parts of its score. */
export interface Ranked {
  readonly session: number;
  /** Null: only the session's title, summary or facts match. */
  readonly message: ScoredMessage | null;
  readonly score: number;
  readonly parts: ScoreParts;
  /** The request that the shown message answers, or the best answer to it. Absent: not known. */
  readonly other?: MessageFacts;
  /** Of a message ranked by itself: the share of the query in it and around it, 0 to 1. */
  readonly covered?: number;
  /** The part of the score that the query gains as a copied line. Absent: none. */
  readonly line?: number;
}

/** A `Ranked` before its time and sequence are read: only shown hits need them. */
export interface Placed extends Omit<Ranked, "message" | "other"> {
  readonly spot: ScoredSpot | null;
  /** The message to show in its place; absent: itself. */
  readonly shown?: ScoredSpot;
  readonly other?: ScoredSpot;
  /** The weighted depth of the session, which the score does not have yet. */
  readonly depth: number;
  /** The covered share of the query by weight, in the session's best passage: 0 to 1. */
  readonly covered: number;
  /** Absent: no run of all its words. */
  readonly run?: WeighedRun;
}

export interface ScoreParts {
  /** BM25 of the message times its role. */
  readonly message: number;
  /** Gain by the neighbours; negative where they are long and match little. */
  readonly neighbours: number;
  /** The session as one document, its recurrence and its depth. */
  readonly session: number;
  /** Title, summary and searchable facts. */
  readonly boost: number;
  /** The coverage by one passage, and the verbatim boost. */
  readonly coverage: number;
  /** The similarity of the session's nearest vector. Absent: words alone. */
  readonly meaning?: number;
}

export interface Ranking {
  readonly profile: RankingProfile;
  readonly roleWeights: Float64Array;
  readonly terms: readonly WeightedTerm[];
  readonly passage: Passage;
  readonly outputs: readonly WeightedTerm[];
  readonly outputNorm: LengthNorm;
  /** For the session as one document. */
  readonly sessionNorm: LengthNorm;
  readonly boosts: ReadonlyMap<number, number>;
  readonly perSession: number;
  /** The whole query as a phrase; empty if it is none. */
  readonly verbatim: readonly (string | null)[];
}

/** The best messages of a session, at most `perSession`. `isSaid`: outputs count as echoes. */
export function rankSession(scored: ScoredSession, ranking: Ranking, isSaid: boolean): Placed[] {
  const { profile, roleWeights, terms, sessionNorm, boosts } = ranking;
  const left = isSaid ? 1 - ECHO : 0;
  const points = (place: number) =>
    (scored.passages[place] as number) - left * (scored.outputs[place] as number);
  const boost = boosts.get(scored.session) ?? 0;
  const { sum, depth } = recurrenceOf(scored, roleWeights);
  const whole =
    profile.session * sessionScore(scored, terms, sessionNorm) +
    profile.recurrence * Math.log1p(sum);
  const ranked: Placed[] = [];
  for (const place of bestPlaces(scored, points, roleWeights, ranking.perSession)) {
    const spot = scored.spot(place);
    const role = roleWeights[spot.role] as number;
    const own = spot.score - left * (scored.outputs[place] as number);
    const parts = {
      message: own * role,
      neighbours: (points(place) - own) * role,
      session: whole,
      boost,
      coverage: 0,
    };
    const { session } = scored;
    const covered = isSaid ? scored.said : scored.covered;
    const shown = ranking.perSession > 1 ? place : toldPlace(scored, place, points, roleWeights);
    const other = otherHalf(scored, shown);
    ranked.push({
      session,
      spot,
      ...(shown === place ? {} : { shown: scored.spot(shown) }),
      ...(other === undefined ? {} : { other: scored.spot(other) }),
      score: total(parts),
      parts,
      depth: profile.depth * depth,
      covered,
    });
  }
  if (ranked.length === 0 && boost > 0) {
    const parts = { message: 0, neighbours: 0, session: 0, boost, coverage: 0 };
    const { session } = scored;
    ranked.push({ session, spot: null, score: boost, parts, depth: 0, covered: 0 });
  }
  return ranked;
}

/** The best `limit`, in final order. A missing blob makes the attempt run again. */
export function bestOf(
  placed: readonly Placed[],
  limit: number,
  factsOf: (spot: ScoredSpot) => MessageFacts | undefined,
): Ranked[] {
  const byScore = placed.toSorted((a, b) => b.score - a.score);
  // Ties with the last one may still rank before it.
  const least = byScore[limit - 1]?.score ?? Number.NEGATIVE_INFINITY;
  const ranked: Ranked[] = [];
  for (const { session, spot, shown = spot, score, parts, line, other } of byScore) {
    if (score < least) break;
    const facts = shown && factsOf(shown);
    const half = other && factsOf(other);
    if (facts !== undefined) {
      ranked.push({
        session,
        message: facts && { ...facts, ...(shown as ScoredSpot) },
        score,
        parts,
        ...(line === undefined ? {} : { line }),
        ...(half === undefined ? {} : { other: half }),
      });
    }
  }
  return ranked.sort(byRank).slice(0, limit);
}

/** The best single message of a session, if any may be a hit. */
export function bestMessage(
  scored: ScoredSession,
  roleWeights: Float64Array,
): ScoredSpot | undefined {
  const points = (place: number) => scored.scores[place] as number;
  const [place] = bestPlaces(scored, points, roleWeights, 1);
  return place === undefined ? undefined : scored.spot(place);
}

/** A place is as good as the best one of its session with this share of its points. */
const AS_GOOD = 0.5;
const ROLE_OF_TOOLS = ROLES.indexOf("tool");
const ROLE_OF_USER = ROLES.indexOf("user");
const ROLE_OF_ANSWER = ROLES.indexOf("assistant");
const ROLE_OF_ACTING = ROLES.indexOf("acting");
const [TALK, ANNOUNCED, INPUT, OUTPUT] = [0, 1, 2, 3] as const;

/**
 * Of equally good places the one that a person wants to read: talk before a tool's input, and that
 * before an output, which mostly repeats what was asked for. The score stays that of the best place.
 */
function toldPlace(
  scored: ScoredSession,
  best: number,
  points: (place: number) => number,
  roleWeights: Float64Array,
): number {
  const { count, scores, roles, outputs } = scored;
  const kindOf = (place: number) => {
    if (roles[place] !== ROLE_OF_TOOLS) return isAnnounced(scored, place) ? ANNOUNCED : TALK;
    return (outputs[place] as number) > (scores[place] as number) / 2 ? OUTPUT : INPUT;
  };
  const weighted = (place: number) =>
    points(place) * (roleWeights[roles[place] as number] as number);
  // Its own words, not those of the messages around it.
  const ownOf = (place: number) => scores[place] as number;
  const least = AS_GOOD * weighted(best);
  let told = best;
  for (let place = 0; place < count; place++) {
    if (scores[place] === 0 || weighted(place) < least || kindOf(place) > kindOf(told)) continue;
    if (kindOf(place) === kindOf(told) && ownOf(place) <= ownOf(told)) continue;
    if (scored.accepts(place)) told = place;
  }
  return told;
}

/** An agent's text of fewer words that calls follow says what it will do, not what came of it. */
const ANNOUNCEMENT = 30;

function isAnnounced({ count, roles, spot }: ScoredSession, place: number): boolean {
  const next = place + 1 < count ? roles[place + 1] : ROLE_OF_USER;
  const isBesideCall =
    roles[place] === ROLE_OF_ACTING ||
    (roles[place] === ROLE_OF_ANSWER && (next === ROLE_OF_TOOLS || next === ROLE_OF_ACTING));
  return isBesideCall && spot(place).length < ANNOUNCEMENT;
}

/**
 * The other half of an exchange: the request before an answer; of a request the answer with most of the
 * query, else the last one before the next request.
 */
function otherHalf(scored: ScoredSession, place: number): number | undefined {
  const { count, scores, roles } = scored;
  if (roles[place] !== ROLE_OF_USER) {
    const asked = roles.lastIndexOf(ROLE_OF_USER, place);
    return asked < 0 ? undefined : asked;
  }
  let best: number | undefined;
  for (let at = place + 1; at < count && roles[at] !== ROLE_OF_USER; at++) {
    if (roles[at] === ROLE_OF_TOOLS || isAnnounced(scored, at)) continue;
    if (best === undefined || (scores[at] as number) >= (scores[best] as number)) best = at;
  }
  return best;
}

/** The places of the best `points` that may be hits. */
function bestPlaces(
  scored: ScoredSession,
  points: (place: number) => number,
  roleWeights: Float64Array,
  limit: number,
): readonly number[] {
  const { count, scores, roles } = scored;
  const weighted = (place: number) =>
    points(place) * (roleWeights[roles[place] as number] as number);
  const places: number[] = [];
  let first = -1;
  let highest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < count; place++) {
    if (scores[place] === 0) continue;
    places.push(place);
    const value = weighted(place);
    // Of equal ones the later wins, because it is newer.
    if (value < highest) continue;
    highest = value;
    first = place;
  }
  if (first < 0) return [];
  if (limit === 1 && scored.accepts(first)) return [first];
  const best: number[] = [];
  for (const place of places.sort((a, b) => weighted(b) - weighted(a) || b - a)) {
    if (best.length === limit) break;
    if (scored.accepts(place)) best.push(place);
  }
  return best;
}

/** Descending score; of equal ones the newer message, then the older session. */
export function byRank(a: Ranked, b: Ranked): number {
  return (
    b.score - a.score ||
    (b.message?.time ?? 0) - (a.message?.time ?? 0) ||
    a.session - b.session ||
    (a.message?.sequence ?? 0) - (b.message?.sequence ?? 0)
  );
}

function total({ message, neighbours, session, boost }: Omit<ScoreParts, "coverage">): number {
  return message + neighbours + session + boost;
}
