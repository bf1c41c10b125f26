/**
 * The messages of one session with their exact scores, from every source that has some.
 *
 * A session may have a hundred thousand messages: what is kept for each is a number in an array, and
 * only those that have a word of the query become objects.
 */

import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import type { ChunkColumns } from "../index/message-columns.ts";
import type { MessageFacts } from "../index/source.ts";
import { lowerBound, type TermList } from "../index/term-list.ts";
import type { SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import { type LengthNorm, termGain } from "./bm25.ts";
import { type ChunkFilter, chunkFilter } from "./filter.ts";
import type { MessagePass, WeightedTerm } from "./message-pass.ts";
import { findMessages, type SessionMessages } from "./session-messages.ts";

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
  /** Those that have a word of the query, in the order of the session. */
  readonly messages: readonly ScoredMessage[];
  /** BM25 of each of them together with its neighbours. */
  readonly passages: Float64Array;
  /** How often each term stands in the whole session. */
  readonly counts: Float64Array;
  readonly length: number;
}

/** How a message is scored together with the one before and the one after it. */
export interface Passage {
  /** What a word of a neighbour counts for, and a neighbour's length. 0: it stands alone. */
  readonly neighbours: number;
  readonly norm: LengthNorm;
}

/** What a chunk needs to be scored; prepared once for all sessions. */
interface ReadyChunk {
  readonly columns: ChunkColumns;
  readonly filter: ChunkFilter | null;
  /** For each term of the query. */
  readonly lists: readonly (TermList | null)[];
}

export class SessionScorer {
  readonly #pass: MessagePass;
  readonly #passage: Passage;
  readonly #chunks = new Map<string, ReadyChunk>();

  constructor(pass: MessagePass, passage: Passage = { neighbours: 0, norm: pass.norm }) {
    this.#pass = pass;
    this.#passage = passage;
  }

  /** `path` restricts the session to its active messages. Undefined if a blob is missing. */
  score(session: number, path: SessionPath | undefined): ScoredSession | undefined {
    const found = findMessages(this.#pass.views, session, path);
    const chunks = found?.runs.map((run) => this.#chunk(run.view, run.chunk));
    if (found === undefined || chunks === undefined || chunks.includes(undefined)) return undefined;
    const ready = chunks as ReadyChunk[];
    const lengths = lengthsOf(found, ready);
    const { terms, norm } = this.#pass;
    const counts = new Float64Array(terms.length);
    const scores = new Float64Array(found.count);
    const passages = new PassageScores(this.#passage, lengths);
    for (const [index, { weight }] of terms.entries()) {
      for (const [i, run] of found.runs.entries()) {
        const list = ready[i]?.lists[index];
        if (list === null || list === undefined) continue;
        const base = run.chunk * CHUNK_DOCUMENTS;
        const end = run.to - base;
        let at = lowerBound(list.documents, run.from - base, 0, list.count);
        for (; at < list.count && (list.documents[at] as number) < end; at++) {
          const place = run.places[(list.documents[at] as number) - (run.from - base)] as number;
          if (place < 0) continue;
          const count = list.counts[at] as number;
          const gain = weight * termGain(norm, count, lengths[place] as number);
          scores[place] = (scores[place] as number) + gain;
          counts[index] = (counts[index] as number) + count;
          passages.add(place, count);
        }
      }
      passages.endTerm(weight);
    }
    const length = lengths.reduce((total, each) => total + each, 0);
    const messages = this.#messages(found, ready, scores);
    return messages && { session, ...withPassages(messages, passages, scores), counts, length };
  }

  /** The messages that score, each at its place. */
  #messages(
    { runs, count }: SessionMessages,
    ready: readonly ReadyChunk[],
    scores: Float64Array,
  ): (ScoredMessage | undefined)[] | undefined {
    const messages = new Array<ScoredMessage | undefined>(count);
    let isComplete = true;
    for (const [i, run] of runs.entries()) {
      const { columns, filter } = ready[i] as ReadyChunk;
      const { source } = this.#pass.views[run.view] as View;
      for (let document = run.from; document < run.to; document++) {
        const place = run.places[document - run.from] as number;
        const score = place < 0 ? 0 : (scores[place] as number);
        if (score === 0) continue;
        const facts = source.facts(document);
        if (facts === undefined) {
          isComplete = false;
          continue;
        }
        const inChunk = document - run.chunk * CHUNK_DOCUMENTS;
        messages[place] = {
          sequence: facts.sequence,
          chain: facts.chain,
          depth: facts.depth,
          time: facts.time,
          view: run.view,
          document,
          role: columns.roles[inChunk] as number,
          length: columns.lengths[inChunk] as number,
          score,
          accepted: filter?.accepts(inChunk) ?? false,
        };
      }
    }
    return isComplete ? messages : undefined;
  }

  #chunk(number: number, chunk: number): ReadyChunk | undefined {
    const key = `${number}/${chunk}`;
    const known = this.#chunks.get(key);
    if (known !== undefined) return known;
    const view = this.#pass.views[number] as View;
    const columns = view.source.columns(chunk);
    const filter = columns && chunkFilter(view, chunk, columns, this.#pass.filter);
    const lists = this.#pass.terms.map(({ inViews }) => {
      const found = inViews[number];
      return found === null || found === undefined ? null : found.list(chunk);
    });
    if (columns === undefined || filter === undefined || lists.includes(undefined)) {
      return undefined;
    }
    const ready = { columns, filter, lists: lists as (TermList | null)[] };
    this.#chunks.set(key, ready);
    return ready;
  }
}

/**
 * BM25 of every message as the middle of a passage: its neighbours' words count in part, and so do
 * their lengths. The counts of one term are gathered first, because a gain is not a sum.
 */
class PassageScores {
  readonly #passage: Passage;
  readonly #lengths: Float64Array;
  readonly #scores: Float64Array;
  readonly #counts: Float64Array;
  readonly #touched: number[] = [];

  constructor(passage: Passage, lengths: Float64Array) {
    this.#passage = passage;
    this.#lengths = lengths;
    const size = passage.neighbours === 0 ? 0 : lengths.length;
    this.#scores = new Float64Array(size);
    this.#counts = new Float64Array(size);
  }

  add(place: number, count: number): void {
    const { neighbours } = this.#passage;
    if (neighbours === 0) return;
    this.#count(place, count);
    if (place > 0) this.#count(place - 1, neighbours * count);
    if (place + 1 < this.#counts.length) this.#count(place + 1, neighbours * count);
  }

  endTerm(weight: number): void {
    const { norm } = this.#passage;
    for (const place of this.#touched) {
      const gain = weight * termGain(norm, this.#counts[place] as number, this.#length(place));
      this.#scores[place] = (this.#scores[place] as number) + gain;
      this.#counts[place] = 0;
    }
    this.#touched.length = 0;
  }

  /** `own` is what the message has by itself. */
  of(place: number, own: number): number {
    return this.#passage.neighbours === 0 ? own : (this.#scores[place] as number);
  }

  #count(place: number, count: number): void {
    if (this.#counts[place] === 0) this.#touched.push(place);
    this.#counts[place] = (this.#counts[place] as number) + count;
  }

  /** On the scale of one message, so that messages and passages share an average. */
  #length(place: number): number {
    const { neighbours } = this.#passage;
    const around = (this.#lengths[place - 1] ?? 0) + (this.#lengths[place + 1] ?? 0);
    return ((this.#lengths[place] as number) + neighbours * around) / (1 + 2 * neighbours);
  }
}

function withPassages(
  atPlaces: readonly (ScoredMessage | undefined)[],
  passages: PassageScores,
  scores: Float64Array,
): Pick<ScoredSession, "messages" | "passages"> {
  const messages: ScoredMessage[] = [];
  const own: number[] = [];
  for (const [place, message] of atPlaces.entries()) {
    if (message === undefined) continue;
    messages.push(message);
    own.push(passages.of(place, scores[place] as number));
  }
  return { messages, passages: Float64Array.from(own) };
}

function lengthsOf({ runs, count }: SessionMessages, ready: readonly ReadyChunk[]): Float64Array {
  const lengths = new Float64Array(count);
  for (const [i, { from, chunk, places }] of runs.entries()) {
    const { columns } = ready[i] as ReadyChunk;
    const first = from - chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      if (place >= 0) lengths[place] = columns.lengths[first + at] as number;
    }
  }
  return lengths;
}

/** BM25 of a session as one document. */
export function sessionScore(
  { counts, length }: ScoredSession,
  terms: readonly WeightedTerm[],
  norm: LengthNorm,
): number {
  return terms.reduce((score, { weight }, i) => {
    const count = counts[i] as number;
    return count === 0 ? score : score + weight * termGain(norm, count, length);
  }, 0);
}
