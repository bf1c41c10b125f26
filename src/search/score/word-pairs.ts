/**
 * Sequential dependence (Metzler and Croft): adjacent query words in one message of a session, for
 * the best sessions only. A session with "retry budget" then ranks before one that has both words
 * somewhere.
 */

import type { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { placeOf, slicePostings, type TermList } from "../index/lists/term-list.ts";
import type { FoundTerm } from "../index/source.ts";
import type { SansIo, SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import type { MessagePass, WeightedTerm } from "./message-pass.ts";
import type { Ranking } from "./rank.ts";
import { findMessages, type MessageRun } from "./session/session-messages.ts";

/** Messages of a session whose positions are read: those with the largest bounds. */
const MAX_MESSAGES = 8;

/** Pairs below this share of the largest weight are skipped: their words are too common. */
const LEAST_WEIGHT = 0.1;

/** Two query words, and the smaller of their idfs. */
interface WordPair {
  readonly first: string;
  readonly second: string;
  readonly weight: number;
}

/** A message with both words of some pairs. */
interface Candidate {
  readonly view: number;
  readonly document: number;
  /** The weight of these pairs: an upper bound of the adjacent ones. */
  readonly bound: number;
}

/** Gains of `sessions`, on the scale of the best score: the profile's `pairs`, or a share of it. */
export function* findPairs(
  sessions: readonly number[],
  { verbatim, profile, terms }: Ranking,
  { views, filter }: Pick<MessagePass, "views" | "filter">,
  blobs: Blobs,
): SansIo<ReadonlyMap<number, number>> {
  const pairs = profile.pairs === 0 ? [] : pairsOf(verbatim, terms);
  if (sessions.length === 0 || pairs.length === 0) return new Map();
  return yield* blobs.complete(() => {
    const finder = new PairFinder(views, pairs);
    return new Map(
      sessions.map((session) => {
        const share = finder.shareOf(session, filter.path?.(session));
        return [session, profile.pairs * share];
      }),
    );
  });
}

/** Each pair once. A word without matches forms pairs too: then no message has all of them. */
export function pairsOf(
  words: readonly (string | null)[],
  terms: readonly WeightedTerm[],
): readonly WordPair[] {
  const idfs = new Map<string, number>();
  for (const { term, weight } of terms) {
    if (term.isPiece === true && term.weight > 0) idfs.set(term.label, weight / term.weight);
  }
  const pairs = new Map<string, WordPair>();
  for (const [i, second] of words.entries()) {
    const first = words[i - 1];
    if (typeof first !== "string" || second === null) continue;
    const weight = Math.min(idfs.get(first) ?? 0, idfs.get(second) ?? 0);
    pairs.set(`${first} ${second}`, { first, second, weight });
  }
  const all = [...pairs.values()];
  const least = LEAST_WEIGHT * Math.max(0, ...all.map(({ weight }) => weight));
  return all.filter(({ weight }) => weight > 0 && weight >= least);
}

/** Above any source's maximum. */
const MAX_CHUNKS = 2 ** 20;

class PairFinder {
  readonly #views: readonly View[];
  readonly #words: readonly string[];
  /** The pairs by the indexes of their words. */
  readonly #pairs: readonly (readonly [number, number, number])[];
  readonly #total: number;
  readonly #terms: (readonly (FoundTerm | null | undefined)[])[] = [];
  readonly #lists = new Map<number, readonly (TermList | undefined)[]>();

  constructor(views: readonly View[], pairs: readonly WordPair[]) {
    this.#views = views;
    this.#words = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
    this.#pairs = pairs.map(({ first, second, weight }) => [
      this.#words.indexOf(first),
      this.#words.indexOf(second),
      weight,
    ]);
    this.#total = pairs.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** The largest share of the pairs, by weight, in one message: 0 to 1. */
  shareOf(session: number, path: SessionPath | undefined): number {
    let most = 0;
    for (const candidate of this.#candidates(session, path)) {
      if (candidate.bound <= most) break;
      most = Math.max(most, this.#weightIn(candidate));
    }
    return most / this.#total;
  }

  /** The messages with the largest bounds, descending; of equal ones the earlier. */
  #candidates(session: number, path: SessionPath | undefined): readonly Candidate[] {
    const best: Candidate[] = [];
    for (const run of findMessages(this.#views, session, path)?.runs ?? []) {
      const bounds = this.#boundsIn(run);
      for (let at = 0; at < bounds.length; at++) {
        const bound = bounds[at] as number;
        if (bound <= (best[MAX_MESSAGES - 1]?.bound ?? 0)) continue;
        const place = best.findLastIndex((each) => each.bound >= bound) + 1;
        best.splice(place, 0, { view: run.view, document: run.from + at, bound });
        if (best.length > MAX_MESSAGES) best.pop();
      }
    }
    return best;
  }

  /** Upper bounds per message of the run: the weight of the pairs whose words it has, in any order. */
  #boundsIn({ view, chunk, from, places }: MessageRun): Float64Array {
    const bounds = new Float64Array(places.length);
    const start = from - chunk * CHUNK_DOCUMENTS;
    const lists = this.#listsIn(view, chunk);
    for (const [first, second, weight] of this.#pairs) {
      const [one, other] = [lists[first], lists[second]];
      if (one === undefined || other === undefined) continue;
      const [rare, common] = one.count <= other.count ? [one, other] : [other, one];
      const slice = slicePostings(rare, start, start + places.length);
      for (let i = slice.from; i < slice.to; i++) {
        const document = slice.documents[i] as number;
        const at = document - start;
        if ((places[at] as number) < 0 || placeOf(common, document) < 0) continue;
        bounds[at] = (bounds[at] as number) + weight;
      }
    }
    return bounds;
  }

  /** The weight of the adjacent pairs in the message. */
  #weightIn({ view, document }: Candidate): number {
    const inChunk = document % CHUNK_DOCUMENTS;
    const isThere = this.#listsIn(view, Math.floor(document / CHUNK_DOCUMENTS)).map(
      (list) => list !== undefined && placeOf(list, inChunk) >= 0,
    );
    const terms = this.#termsIn(view);
    const positions: (readonly number[] | undefined)[] = [];
    let sum = 0;
    for (const [first, second, weight] of this.#pairs) {
      if (!isThere[first] || !isThere[second]) continue;
      positions[first] ??= terms[first]?.positions(document) ?? [];
      positions[second] ??= terms[second]?.positions(document) ?? [];
      if (areAdjacent(positions[first], positions[second])) sum += weight;
    }
    return sum;
  }

  /** By index of the word. Undefined: none, or a blob is missing and the attempt runs again. */
  #listsIn(view: number, chunk: number): readonly (TermList | undefined)[] {
    const key = view * MAX_CHUNKS + chunk;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const lists = this.#termsIn(view).map((term) => term?.list(chunk) ?? undefined);
    this.#lists.set(key, lists);
    return lists;
  }

  #termsIn(view: number): readonly (FoundTerm | null | undefined)[] {
    const known = this.#terms[view];
    if (known !== undefined) return known;
    const { source } = this.#views[view] as View;
    const terms = this.#words.map((word) => source.findTerm("message", word));
    this.#terms[view] = terms;
    return terms;
  }
}

/** Whether a position of the second follows one of the first; both ascend. */
function areAdjacent(first: readonly number[], second: readonly number[]): boolean {
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    const gap = (second[j] as number) - (first[i] as number);
    if (gap === 1) return true;
    if (gap < 1) j++;
    else i++;
  }
  return false;
}
