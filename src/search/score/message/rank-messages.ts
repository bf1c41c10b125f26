/**
 * Ranks single messages: for one session's best messages, and for several hits per session.
 *
 * What ranks sessions has no say here. A message scores by its own words, by the share of the query
 * that it covers with the messages before and after it (a question and its answer are one event), by
 * the better of those two, and by how close together the words stand. Each part is beside 1 for the
 * best candidate's own words. Only the candidates of the first pass are read, so a session of a
 * hundred thousand messages costs no more than one of a hundred. What each part gains is in
 * docs/decisions/ranking.md.
 */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import { countAt } from "../../index/lists/packed-counts.ts";
import { placeOf } from "../../index/lists/term-list.ts";
import type { SessionPath } from "../../port.ts";
import type { View } from "../../snapshot.ts";
import { termGain } from "../bm25.ts";
import { NEARBY } from "../coverage.ts";
import { type ChunkFilter, chunkFilter } from "../filter/filter.ts";
import type { RunGain } from "../lines.ts";
import type { MessagePass, WeightedTerm } from "../message-pass.ts";
import type { Ranked } from "../rank.ts";
import { type PairedTerm, pairTerms } from "../session/session-scores.ts";
import type { Best } from "../session/top-sessions.ts";
import { SessionNeighbours, type Spot, textLength } from "./neighbours.ts";
import { ProximityFinder } from "./proximity.ts";

/** The number of candidates: the best by their own words. */
export const MESSAGE_CANDIDATES = 200;
/** The number of those whose positions are read: the best by everything else. */
const READ_CLOSELY = 64;

/** The weights of the parts, beside 1 for the best candidate's own words. */
const COVERED = 1;
/** For the share that the candidates of its session have together: the same for all of one session. */
const SESSION_COVERED = 1.5;
const NEIGHBOUR = 1.4;
/** For the BM25 of the session's title, date and the like. */
const BOOST = 2;
const PASSAGE = 1.4;
const PAIRS = 0.7;

/** What a message can have at most: a copied line is worth more than that. */
const ALL_PARTS = 1 + NEIGHBOUR + COVERED + SESSION_COVERED + PASSAGE + PAIRS;

/**
 * A long message has many words by chance, more than BM25's normalisation takes off. The score falls
 * with this power of the length, from this many words on.
 */
const LENGTH_POWER = 0.1;
const LONG = 60;

interface Candidate {
  readonly best: Best;
  readonly role: number;
  readonly length: number;
  /** BM25 of its text and outputs, without the role. */
  readonly own: number;
  /** The better BM25 of the messages before and after. */
  readonly near: number;
  /** The share of the query, by weight, in the message and around it: 0 to 1. */
  readonly covered: number;
}

/** Undefined if a blob is missing. `pathOf` determines which neighbours of a session count. */
export function rankMessages(
  found: readonly Best[],
  pass: Omit<MessagePass, "maxBoost">,
  pathOf: (session: number) => SessionPath | undefined,
  gains: readonly RunGain[],
  boosts: ReadonlyMap<number, number>,
): Ranked[] | undefined {
  const { views } = pass;
  const scorer = new CandidateScorer(pass);
  const sessions = new Map<number, SessionNeighbours>();
  const candidates: Candidate[] = [];
  for (const best of found) {
    const { session } = best;
    const own = sessions.get(session) ?? SessionNeighbours.of(views, session, pathOf(session));
    if (own === undefined) return undefined;
    sessions.set(session, own);
    candidates.push(scorer.score(best, own.of(best)));
  }
  // A message that answers, or is answered by, a good candidate may have few of the words.
  const known = new Set(candidates.map(({ best }) => placeKey(best)));
  const accepts = acceptance(pass);
  const leading = candidates.toSorted((a, b) => b.own - a.own).slice(0, READ_CLOSELY);
  for (const { best } of leading) {
    const own = sessions.get(best.session);
    for (const spot of own?.of(best) ?? []) {
      if (known.has(placeKey(spot)) || !accepts(spot)) continue;
      known.add(placeKey(spot));
      const next = { ...best, ...spot };
      const scored = scorer.score(next, own?.of(next) ?? []);
      if (scored.own > 0) candidates.push(scored);
    }
  }
  const most = candidates.reduce((max, { own }) => Math.max(max, own), 0) || 1;
  const loose = (each: Candidate) =>
    (each.own + NEIGHBOUR * each.near) / most + COVERED * each.covered;
  const closest = new Set(
    candidates.toSorted((a, b) => loose(b) - loose(a)).slice(0, READ_CLOSELY),
  );
  const proximity = new ProximityFinder(views, pass.terms);
  const byPlace = new Map(gains.map((gain) => [placeKey(gain.run), gain]));
  return candidates.flatMap((each) => {
    const { passage, pairs } = closest.has(each)
      ? proximity.in(each.best)
      : { passage: 0, pairs: 0 };
    const role = pass.roleWeights[each.role] as number;
    const factor = role * Math.max(1, each.length / LONG) ** -LENGTH_POWER;
    const run = byPlace.get(placeKey(each.best));
    const line = run === undefined ? 0 : most * run.gain * (run.isLine ? ALL_PARTS : 1);
    const parts = {
      message: factor * each.own,
      neighbours: factor * NEIGHBOUR * each.near,
      session: most * SESSION_COVERED * scorer.coveredBy(each.best.session),
      boost: BOOST * (boosts.get(each.best.session) ?? 0),
      coverage: factor * most * (COVERED * each.covered + PASSAGE * passage + PAIRS * pairs) + line,
    };
    const { session, view, document } = each.best;
    const facts = views[view]?.source.facts(document);
    if (facts === undefined) return [];
    const { role: roleNumber, length, own: score, covered } = each;
    const message = { ...facts, view, document, role: roleNumber, length, score };
    const total = parts.message + parts.neighbours + parts.session + parts.boost + parts.coverage;
    const isLine = run?.isLine === true ? { line } : {};
    return { session, message, score: total, parts, covered, ...isLine };
  });
}

/** Whether a message meets the filter. A missing blob makes the attempt run again. */
function acceptance({ views, filter }: Pick<MessagePass, "views" | "filter">) {
  const chunks = new Map<string, ChunkFilter | null | undefined>();
  return ({ view, document }: Spot): boolean => {
    const chunk = Math.floor(document / CHUNK_DOCUMENTS);
    const key = `${view}/${chunk}`;
    if (!chunks.has(key)) {
      const own = views[view] as View;
      const columns = own.source.columns(chunk);
      chunks.set(key, columns && chunkFilter(own, chunk, columns, filter));
    }
    return chunks.get(key)?.accepts(document % CHUNK_DOCUMENTS) ?? false;
  };
}

function placeKey({ view, document }: Spot): string {
  return `${view}/${document}`;
}

class CandidateScorer {
  readonly #pass: Omit<MessagePass, "maxBoost">;
  readonly #terms: readonly PairedTerm[];
  readonly #toCover: number;
  /** For each term, whether a candidate of the session has it. */
  readonly #ofSessions = new Map<number, Uint8Array>();

  constructor(pass: Omit<MessagePass, "maxBoost">) {
    this.#pass = pass;
    this.#terms = pairTerms(pass);
    this.#toCover = this.#terms.reduce((sum, { cover }) => sum + cover, 0);
  }

  /** The share of the query, by weight, in the candidates of a session so far: 0 to 1. */
  coveredBy(session: number): number {
    const ofSession = this.#ofSessions.get(session);
    if (ofSession === undefined || this.#toCover === 0) return 0;
    const sum = this.#terms.reduce(
      (all, { cover }, i) => all + cover * (ofSession[i] as number),
      0,
    );
    return sum / this.#toCover;
  }

  score(best: Best, neighbours: readonly Spot[]): Candidate {
    const { views, norm, outputNorm, terms } = this.#pass;
    const near = neighbours.map((spot) => ({ spot, score: 0, length: textLength(views, spot) }));
    const columns = views[best.view]?.source.columns(Math.floor(best.document / CHUNK_DOCUMENTS));
    const at = best.document % CHUNK_DOCUMENTS;
    const role = columns?.roles[at] ?? 0;
    const length = columns?.lengths[at] ?? 0;
    const outputLength = columns?.outputs?.lengths[at] ?? 0;
    const ofSession = this.#ofSessions.get(best.session) ?? new Uint8Array(this.#terms.length);
    this.#ofSessions.set(best.session, ofSession);
    let own = 0;
    let covered = 0;
    for (const [i, { said, given, actor, cover }] of this.#terms.entries()) {
      const author = actor >= 0 ? (terms[actor] as WeightedTerm) : undefined;
      const count = countOf(said, best);
      const outputs = given === undefined ? 0 : countOf(given, best);
      if (count > 0) own += said.weight * termGain(norm, count, length);
      if (outputs > 0 && given !== undefined) {
        own += given.weight * termGain(outputNorm, outputs, outputLength);
      }
      let isNear = false;
      for (const each of near) {
        const around = countOf(said, each.spot);
        if (around > 0) each.score += said.weight * termGain(norm, around, each.length);
        isNear ||= around > 0 || (author !== undefined && countOf(author, each.spot) > 0);
      }
      const isHere =
        count > 0 || outputs > 0 || (author !== undefined && countOf(author, best) > 0);
      if (isHere) {
        ofSession[i] = 1;
        covered += cover;
      } else if (isNear) {
        covered += NEARBY * cover;
      }
    }
    return {
      best,
      role,
      length: length + outputLength,
      own,
      near: near.reduce((most, { score }) => Math.max(most, score), 0),
      covered: this.#toCover === 0 ? 0 : covered / this.#toCover,
    };
  }
}

/** The term's frequency in the message. */
function countOf({ inViews }: WeightedTerm, { view, document }: Spot): number {
  const list = inViews[view]?.list(Math.floor(document / CHUNK_DOCUMENTS));
  if (list === null || list === undefined) return 0;
  const at = placeOf(list, document % CHUNK_DOCUMENTS);
  return at < 0 ? 0 : countAt(list, at);
}
