/** How close together the words of a query stand in one message, by their positions. */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import { placeOf } from "../../index/lists/term-list.ts";
import type { FoundTerm } from "../../index/source.ts";
import type { View } from "../../snapshot.ts";
import type { WeightedTerm } from "../message-pass.ts";
import type { Spot } from "./neighbours.ts";

/** The span of a passage, in words: about two sentences. */
const SPAN = 25;
/** Of two neighbouring words of the query, the second may be this far behind the first. */
const ADJACENT = 2;

export interface Proximity {
  /** The share of the query, by weight, that one passage has: 0 to 1. */
  readonly passage: number;
  /** The weight of neighbouring words of the query that stand together, as a share of it. */
  readonly pairs: number;
}

const NONE: Proximity = { passage: 0, pairs: 0 };

export class ProximityFinder {
  readonly #views: readonly View[];
  readonly #terms: readonly WeightedTerm[];
  readonly #total: number;
  /** Each word of the query but the first, with the one before it and the smaller weight. */
  readonly #pairs: readonly (readonly [first: number, second: number, weight: number])[];
  readonly #found = new Map<number, readonly (FoundTerm | null | undefined)[]>();

  constructor(views: readonly View[], terms: readonly WeightedTerm[]) {
    this.#views = views;
    // Without authors' names and words that no message has.
    this.#terms = terms.filter(
      ({ term, documents }) => documents > 0 && !term.label.startsWith("@"),
    );
    this.#total = this.#terms.reduce((sum, { weight }) => sum + weight, 0);
    const words = [...this.#terms.keys()].filter((i) => this.#terms[i]?.term.isPiece === true);
    this.#pairs = words.slice(1).map((second, i) => {
      const first = words[i] as number;
      return [first, second, Math.min(this.#weight(first), this.#weight(second))] as const;
    });
  }

  /** Of the text, tool outputs apart. A missing blob makes the attempt run again. */
  in(spot: Spot): Proximity {
    if (this.#total === 0) return NONE;
    const found = this.#termsIn(spot.view);
    const positions = found.map((term) => (term ? positionsOf(term, spot.document) : []));
    return {
      passage: this.#bestPassage(positions) / this.#total,
      pairs: this.#adjacent(positions) / this.#total,
    };
  }

  #weight(term: number): number {
    return this.#terms[term]?.weight ?? 0;
  }

  /** A window that slides over the positions of all words. */
  #bestPassage(positions: readonly (readonly number[])[]): number {
    const places = positions.flatMap((own, term) => own.map((at) => ({ at, term })));
    places.sort((a, b) => a.at - b.at);
    const counts = new Uint32Array(positions.length);
    let sum = 0;
    let best = 0;
    let first = 0;
    for (const { at, term } of places) {
      if (counts[term] === 0) sum += this.#weight(term);
      counts[term] = (counts[term] as number) + 1;
      for (let left = places[first]; left && left.at <= at - SPAN; left = places[++first]) {
        counts[left.term] = (counts[left.term] as number) - 1;
        if (counts[left.term] === 0) sum -= this.#weight(left.term);
      }
      best = Math.max(best, sum);
    }
    return best;
  }

  #adjacent(positions: readonly (readonly number[])[]): number {
    let sum = 0;
    for (const [first, second, weight] of this.#pairs) {
      if (areNear(positions[first] ?? [], positions[second] ?? [])) sum += weight;
    }
    return sum;
  }

  #termsIn(view: number): readonly (FoundTerm | null | undefined)[] {
    const known = this.#found.get(view);
    if (known !== undefined) return known;
    const { source } = this.#views[view] as View;
    const found = this.#terms.map(({ term }) => source.findTerm("message", term.terms[0] ?? ""));
    this.#found.set(view, found);
    return found;
  }
}

function positionsOf(term: FoundTerm, document: number): readonly number[] {
  const list = term.list(Math.floor(document / CHUNK_DOCUMENTS));
  if (list === null || list === undefined || placeOf(list, document % CHUNK_DOCUMENTS) < 0) {
    return [];
  }
  return term.positions(document) ?? [];
}

/** Whether a position of the second follows one of the first closely; both ascend. */
function areNear(first: readonly number[], second: readonly number[]): boolean {
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    const gap = (second[j] as number) - (first[i] as number);
    if (gap >= 1 && gap <= ADJACENT) return true;
    if (gap < 1) j++;
    else i++;
  }
  return false;
}
