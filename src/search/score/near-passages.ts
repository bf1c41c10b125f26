/**
 * Ranks the best messages of one session, each with the messages before and after it.
 *
 * Only the candidates of the first pass are read, so a session of a hundred thousand messages costs
 * no more than one of a hundred.
 */

import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { countAt } from "../index/lists/packed-counts.ts";
import { placeOf } from "../index/lists/term-list.ts";
import type { SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import { termGain } from "./bm25.ts";
import { isOnPath } from "./filter/filter.ts";
import type { WeightedTerm } from "./message-pass.ts";
import { PassageScores } from "./passage-scores.ts";
import type { Ranked, Ranking } from "./rank.ts";
import type { Best } from "./session/top-sessions.ts";

/** A message's place. */
interface Spot {
  readonly view: number;
  readonly document: number;
}

/** Adjacent messages of the session in a view, with the first one's sequence. */
interface Run extends Spot {
  /** Exclusive. */
  readonly end: number;
  readonly sequence: number;
}

/** Undefined if a blob is missing. `path` determines which neighbours count. */
export function rankNear(
  best: readonly Best[],
  views: readonly View[],
  path: SessionPath | undefined,
  ranking: Ranking,
): Ranked[] | undefined {
  const [first] = best;
  if (first === undefined) return [];
  const runs = runsOf(views, first.session);
  if (runs === undefined) return undefined;
  const counts = (spot: Spot | undefined): Spot | undefined =>
    spot !== undefined && isShown(views, spot, path) ? spot : undefined;
  const passages = new PassageScores(ranking.passage);
  return best.flatMap((each) => {
    const { before, after } = neighboursOf(runs, each, (spot) => (lengthOf(views, spot) ?? 0) > 0);
    const spots = [counts(before), each, counts(after)];
    const lengths = Float64Array.from(spots, (spot) => lengthOf(views, spot) ?? 0);
    passages.begin(lengths, lengths.length);
    for (const term of ranking.terms) {
      for (const [place, spot] of spots.entries()) {
        const count = spot === undefined ? 0 : countOf(term, spot);
        if (count > 0) passages.add(place, count);
      }
      passages.endTerm(term.weight, 0);
    }
    const passage = (passages.scores(lengths)[1] as number) + outputScore(each, views, ranking);
    return toRanked(each, passage, views, ranking) ?? [];
  });
}

function toRanked(
  { session, score, view, document }: Best,
  passage: number,
  views: readonly View[],
  { boosts, roleWeights }: Ranking,
): Ranked | undefined {
  const source = views[view]?.source;
  const columns = source?.columns(Math.floor(document / CHUNK_DOCUMENTS));
  const facts = source?.facts(document);
  if (columns === undefined || facts === undefined) return undefined;
  const boost = boosts.get(session) ?? 0;
  const role = columns.roles[document % CHUNK_DOCUMENTS] as number;
  const length = columns.lengths[document % CHUNK_DOCUMENTS] as number;
  const weight = roleWeights[role] as number;
  const own = (score - boost) / weight;
  const message = { ...facts, view, document, role, length, score: own };
  const parts = {
    message: own * weight,
    neighbours: (passage - own) * weight,
    session: 0,
    boost,
    coverage: 0,
  };
  return { session, message, score: passage * weight + boost, parts };
}

/** The score of a message's tool outputs, without those of its neighbours. */
function outputScore(
  { view, document }: Spot,
  views: readonly View[],
  { outputs, outputNorm }: Ranking,
): number {
  const columns = views[view]?.source.columns(Math.floor(document / CHUNK_DOCUMENTS));
  const length = columns?.outputs?.lengths[document % CHUNK_DOCUMENTS] ?? 0;
  if (length === 0) return 0;
  return outputs.reduce((score, term) => {
    const count = countOf(term, { view, document });
    return count === 0 ? score : score + term.weight * termGain(outputNorm, count, length);
  }, 0);
}

/** In session order: each source has its own range of a session. */
function runsOf(views: readonly View[], session: number): Run[] | undefined {
  const runs: Run[] = [];
  for (const [view, { source }] of views.entries()) {
    const ranges = source.slotsOf(session);
    if (ranges === undefined) return undefined;
    for (const { from, to } of ranges) {
      const facts = source.facts(from);
      if (facts === undefined) return undefined;
      runs.push({ view, document: from, end: to, sequence: facts.sequence });
    }
  }
  return runs.sort((a, b) => a.sequence - b.sequence);
}

/** The limit of messages without text that are skipped to find a neighbour. */
const MAX_PASSED = 16;

/** The nearest messages with text on both sides. */
function neighboursOf(
  runs: readonly Run[],
  spot: Spot,
  isText: (spot: Spot) => boolean,
): { readonly before: Spot | undefined; readonly after: Spot | undefined } {
  const towards = (step: 1 | -1) => {
    let next = stepFrom(runs, spot, step);
    for (let passed = 0; next !== undefined && !isText(next) && passed < MAX_PASSED; passed++) {
      next = stepFrom(runs, next, step);
    }
    return next !== undefined && isText(next) ? next : undefined;
  };
  return { before: towards(-1), after: towards(1) };
}

function stepFrom(runs: readonly Run[], { view, document }: Spot, step: 1 | -1): Spot | undefined {
  const at = runs.findIndex(
    (run) => run.view === view && run.document <= document && document < run.end,
  );
  const run = runs[at];
  if (run === undefined) return undefined;
  const next = document + step;
  if (next >= run.document && next < run.end) return { view, document: next };
  const other = runs[at + step];
  return other && { view: other.view, document: step === 1 ? other.document : other.end - 1 };
}

function isShown(views: readonly View[], { view, document }: Spot, path: SessionPath | undefined) {
  const { source, live } = views[view] as View;
  if (live.messages !== null && live.messages[document] === 0) return false;
  if (path === undefined || path.isWhole) return true;
  const facts = source.facts(document);
  return facts !== undefined && isOnPath(facts, path);
}

function lengthOf(views: readonly View[], spot: Spot | undefined): number | undefined {
  if (spot === undefined) return undefined;
  const columns = views[spot.view]?.source.columns(Math.floor(spot.document / CHUNK_DOCUMENTS));
  return columns?.lengths[spot.document % CHUNK_DOCUMENTS];
}

/** The term's frequency in the message. */
function countOf({ inViews }: WeightedTerm, { view, document }: Spot): number {
  const list = inViews[view]?.list(Math.floor(document / CHUNK_DOCUMENTS));
  if (list === null || list === undefined) return 0;
  const at = placeOf(list, document % CHUNK_DOCUMENTS);
  return at < 0 ? 0 : countAt(list, at);
}
