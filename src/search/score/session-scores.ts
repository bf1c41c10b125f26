/** All messages of one session with their exact scores, from every source that has some. */

import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import type { MessageFacts } from "../index/source.ts";
import { lowerBound } from "../index/term-list.ts";
import type { SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import { termGain } from "./bm25.ts";
import { type ChunkFilter, chunkFilter, isOnPath } from "./filter.ts";
import { chunkLists, type MessagePass, type WeightedTerm } from "./message-pass.ts";

export interface ScoredMessage extends MessageFacts {
  readonly view: number;
  readonly document: number;
  /** An index into `ROLES`. */
  readonly role: number;
  readonly length: number;
  /** BM25, without role and boosts. */
  readonly score: number;
  /** Whether it may be a hit. */
  readonly accepted: boolean;
}

export interface ScoredSession {
  readonly session: number;
  /** In the order of the session. */
  readonly messages: readonly ScoredMessage[];
  /** How often each term stands in the whole session. */
  readonly counts: Float64Array;
  readonly length: number;
}

/** Scores sessions one after another; what a chunk needs is prepared once. */
export class SessionScorer {
  readonly #pass: MessagePass;
  readonly #filters = new Map<string, ChunkFilter | null | undefined>();

  constructor(pass: MessagePass) {
    this.#pass = pass;
  }

  /** `path` restricts the session to its active messages. Undefined if a blob is missing. */
  score(session: number, path: SessionPath | undefined): ScoredSession | undefined {
    const { views, terms } = this.#pass;
    const messages: ScoredMessage[] = [];
    const counts = new Float64Array(terms.length);
    let isComplete = true;
    for (const [number, view] of views.entries()) {
      const ranges = view.source.slotsOf(session);
      if (ranges === undefined) isComplete = false;
      for (const { from, to } of ranges ?? []) {
        for (let start = from; start < to; ) {
          const chunk = Math.floor(start / CHUNK_DOCUMENTS);
          const end = Math.min(to, (chunk + 1) * CHUNK_DOCUMENTS);
          const isDone = this.#scoreRange(number, chunk, start, end, path, messages, counts);
          if (!isDone) isComplete = false;
          start = end;
        }
      }
    }
    if (!isComplete) return undefined;
    messages.sort((a, b) => a.sequence - b.sequence);
    const length = messages.reduce((total, message) => total + message.length, 0);
    return { session, messages, counts, length };
  }

  #scoreRange(
    number: number,
    chunk: number,
    from: number,
    to: number,
    path: SessionPath | undefined,
    messages: ScoredMessage[],
    counts: Float64Array,
  ): boolean {
    const { views, terms, norm } = this.#pass;
    const view = views[number] as View;
    const columns = view.source.columns(chunk);
    const filter = columns && this.#filter(number, chunk);
    const lists = chunkLists(terms, number, chunk);
    if (columns === undefined || lists === undefined || filter === undefined) return false;
    const base = chunk * CHUNK_DOCUMENTS;
    const facts: (MessageFacts | undefined)[] = [];
    for (let document = from; document < to; document++) {
      const own = view.source.facts(document);
      if (own === undefined) return false;
      const isLive = view.live.messages === null || view.live.messages[document] !== 0;
      facts.push(isLive && (path === undefined || isOnPath(own, path)) ? own : undefined);
    }
    const scores = new Float64Array(to - from);
    for (const [index, { inViews, weight }] of terms.entries()) {
      const list = inViews[number]?.list(chunk);
      if (list === null || list === undefined) continue;
      let at = lowerBound(list.documents, from - base, 0, list.count);
      for (; at < list.count && (list.documents[at] as number) < to - base; at++) {
        const slot = (list.documents[at] as number) - (from - base);
        if (facts[slot] === undefined) continue;
        const count = list.counts[at] as number;
        const length = columns.lengths[list.documents[at] as number] as number;
        scores[slot] = (scores[slot] as number) + weight * termGain(norm, count, length);
        counts[index] = (counts[index] as number) + count;
      }
    }
    for (const [slot, own] of facts.entries()) {
      if (own === undefined) continue;
      const document = from + slot - base;
      messages.push({
        ...own,
        view: number,
        document: from + slot,
        role: columns.roles[document] as number,
        length: columns.lengths[document] as number,
        score: scores[slot] as number,
        accepted: (scores[slot] as number) > 0 && (filter?.accepts(document) ?? false),
      });
    }
    return true;
  }

  #filter(number: number, chunk: number): ChunkFilter | null | undefined {
    const key = `${number}/${chunk}`;
    const known = this.#filters.get(key);
    if (known !== undefined) return known;
    const view = this.#pass.views[number] as View;
    const columns = view.source.columns(chunk);
    const made = columns && chunkFilter(view, chunk, columns, this.#pass.filter);
    if (made !== undefined) this.#filters.set(key, made);
    return made;
  }
}

/** BM25 of a session as one document. */
export function sessionScore(
  { counts, length }: ScoredSession,
  terms: readonly WeightedTerm[],
  norm: { readonly gain: number; readonly base: number; readonly slope: number },
): number {
  return terms.reduce((score, { weight }, i) => {
    const count = counts[i] as number;
    return count === 0 ? score : score + weight * termGain(norm, count, length);
  }, 0);
}
