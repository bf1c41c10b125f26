/**
 * The messages of one session with their exact scores, from every source that has some.
 *
 * A re-rank looks at hundreds of sessions, and one may have a hundred thousand messages: what is kept
 * for each is a number in an array.
 */

import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { countAt } from "../index/lists/packed-counts.ts";
import { stretchOf, type TermList } from "../index/lists/term-list.ts";
import type { ChunkColumns } from "../index/message-columns.ts";
import type { MessageFacts } from "../index/source.ts";
import type { SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import { type LengthNorm, termGain } from "./bm25.ts";
import { type ChunkFilter, chunkFilter } from "./filter.ts";
import type { MessagePass, WeightedTerm } from "./message-pass.ts";
import { findMessages, type MessageRun, type SessionMessages } from "./session-messages.ts";

/** A message by where it is, and what it scores. */
export interface ScoredSpot {
  readonly view: number;
  readonly document: number;
  /** An index into `ROLES`. */
  readonly role: number;
  readonly length: number;
  /** BM25, without role and boosts. */
  readonly score: number;
}

export interface ScoredMessage extends ScoredSpot, MessageFacts {}

/**
 * A session as the ranking sees it. Messages are known by their place, 0 to `count` - 1 in the order
 * of the session; nothing but numbers is kept of them until one is asked for.
 */
export interface ScoredSession {
  readonly session: number;
  readonly count: number;
  /** BM25 of each message, without role and boosts; 0 if it has no word of the query. */
  readonly scores: Float64Array;
  /** BM25 of each message together with its neighbours. */
  readonly passages: Float64Array;
  /** An index into `ROLES` for each message. */
  readonly roles: Uint8Array;
  /** How often each term stands in the whole session. */
  readonly counts: Float64Array;
  readonly length: number;
  /** Whether a message may be a hit. */
  accepts(place: number): boolean;
  spot(place: number): ScoredSpot;
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

/** More than a source can have. */
const MAX_CHUNKS = 2 ** 20;

const NOTHING = new Float64Array(0);
/** Most searches score no session by itself. */
const NO_ROOM: PlaceColumns = {
  scores: NOTHING,
  lengths: NOTHING,
  roles: new Uint8Array(0),
  documents: new Uint32Array(0),
  runs: new Uint32Array(0),
};

/** What it gives is valid until the next session is scored: arrays are used again. */
export class SessionScorer {
  readonly #pass: MessagePass;
  readonly #passages: PassageScores;
  readonly #chunks = new Map<number, ReadyChunk>();
  #columns: PlaceColumns = NO_ROOM;

  constructor(pass: MessagePass, passage: Passage = { neighbours: 0, norm: pass.norm }) {
    this.#pass = pass;
    this.#passages = new PassageScores(passage);
  }

  /** `path` restricts the session to its active messages. Undefined if a blob is missing. */
  score(session: number, path: SessionPath | undefined): ScoredSession | undefined {
    const found = findMessages(this.#pass.views, session, path);
    const chunks = found?.runs.map((run) => this.#chunk(run.view, run.chunk));
    if (found === undefined || chunks === undefined || chunks.includes(undefined)) return undefined;
    const ready = chunks as ReadyChunk[];
    if (found.count > this.#columns.scores.length) {
      this.#columns = roomFor(Math.max(256, 2 * found.count));
    }
    const { lengths, roles, documents, runs, scores } = this.#columns;
    const length = fillColumns(this.#columns, found, ready);
    const { terms, norm } = this.#pass;
    const counts = new Float64Array(terms.length);
    const passages = this.#passages;
    passages.begin(lengths, found.count);
    for (let index = 0; index < terms.length; index++) {
      const { weight } = terms[index] as WeightedTerm;
      for (let i = 0; i < found.runs.length; i++) {
        const run = found.runs[i] as MessageRun;
        const list = ready[i]?.lists[index];
        if (list === null || list === undefined) continue;
        const first = run.from - run.chunk * CHUNK_DOCUMENTS;
        const end = first + run.places.length;
        const { documents, from, to, shift } = stretchOf(list, first, end);
        for (let at = from; at < to; at++) {
          const place = run.places[(documents[at] as number) - first] as number;
          if (place < 0) continue;
          const count = countAt(list, at + shift);
          const gain = weight * termGain(norm, count, lengths[place] as number);
          scores[place] = (scores[place] as number) + gain;
          counts[index] = (counts[index] as number) + count;
          passages.add(place, count);
        }
      }
      passages.endTerm(weight);
    }
    return {
      session,
      count: found.count,
      scores,
      passages: passages.scores(scores),
      roles,
      counts,
      length,
      accepts: (place) => {
        const run = found.runs[runs[place] as number] as MessageRun;
        const { filter } = ready[runs[place] as number] as ReadyChunk;
        const inChunk = (documents[place] as number) - run.chunk * CHUNK_DOCUMENTS;
        return filter?.accepts(inChunk) ?? false;
      },
      spot: (place) => ({
        view: (found.runs[runs[place] as number] as MessageRun).view,
        document: documents[place] as number,
        role: roles[place] as number,
        length: lengths[place] as number,
        score: scores[place] as number,
      }),
    };
  }

  #chunk(number: number, chunk: number): ReadyChunk | undefined {
    const key = number * MAX_CHUNKS + chunk;
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
export class PassageScores {
  readonly #passage: Passage;
  #lengths: Float64Array = NOTHING;
  #size = 0;
  #scores: Float64Array = NOTHING;
  #counts: Float64Array = NOTHING;
  readonly #touched: number[] = [];

  constructor(passage: Passage) {
    this.#passage = passage;
  }

  /** Begins with other messages: of `lengths` the first `size` are meant. */
  begin(lengths: Float64Array, size: number): void {
    this.#lengths = lengths;
    this.#size = size;
    if (size > this.#scores.length) {
      this.#scores = new Float64Array(Math.max(256, 2 * size));
      this.#counts = new Float64Array(this.#scores.length);
    }
    this.#scores.fill(0, 0, size);
  }

  add(place: number, count: number): void {
    const { neighbours } = this.#passage;
    if (neighbours === 0) return;
    this.#count(place, count);
    if (place > 0) this.#count(place - 1, neighbours * count);
    if (place + 1 < this.#size) this.#count(place + 1, neighbours * count);
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

  /** `own` is what the messages have by themselves. */
  scores(own: Float64Array): Float64Array {
    return this.#passage.neighbours === 0 ? own : this.#scores;
  }

  #count(place: number, count: number): void {
    if (this.#counts[place] === 0) this.#touched.push(place);
    this.#counts[place] = (this.#counts[place] as number) + count;
  }

  /** On the scale of one message, so that messages and passages share an average. */
  #length(place: number): number {
    const { neighbours } = this.#passage;
    const lengths = this.#lengths;
    const before = place > 0 ? (lengths[place - 1] as number) : 0;
    const after = place + 1 < this.#size ? (lengths[place + 1] as number) : 0;
    const around = before + after;
    return ((this.#lengths[place] as number) + neighbours * around) / (1 + 2 * neighbours);
  }
}

interface PlaceColumns {
  readonly scores: Float64Array;
  readonly lengths: Float64Array;
  readonly roles: Uint8Array;
  readonly documents: Uint32Array;
  /** Which run each message is in. */
  readonly runs: Uint32Array;
}

function roomFor(count: number): PlaceColumns {
  return {
    scores: new Float64Array(count),
    lengths: new Float64Array(count),
    roles: new Uint8Array(count),
    documents: new Uint32Array(count),
    runs: new Uint32Array(count),
  };
}

/** What the ranking needs of each message, by place; no scores yet. Gives the length of them all. */
function fillColumns(
  columns: PlaceColumns,
  { runs, count }: SessionMessages,
  ready: readonly ReadyChunk[],
): number {
  columns.scores.fill(0, 0, count);
  let total = 0;
  for (let i = 0; i < runs.length; i++) {
    const { from, chunk, places } = runs[i] as MessageRun;
    const { lengths, roles } = (ready[i] as ReadyChunk).columns;
    const first = from - chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      if (place < 0) continue;
      const length = lengths[first + at] as number;
      total += length;
      columns.lengths[place] = length;
      columns.roles[place] = roles[first + at] as number;
      columns.documents[place] = from + at;
      columns.runs[place] = i;
    }
  }
  return total;
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
