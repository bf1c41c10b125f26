/**
 * Scores all messages of one session exactly, from every source.
 *
 * A re-rank scores hundreds of sessions of up to a hundred thousand messages, so each message is a
 * number in an array.
 */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import { countAt } from "../../index/lists/packed-counts.ts";
import { slicePostings, type TermList } from "../../index/lists/term-list.ts";
import type { ChunkColumns, MessageFacts } from "../../index/message-columns.ts";
import { actorTerm } from "../../index/special-terms.ts";
import type { SessionPath } from "../../port.ts";
import type { View } from "../../snapshot.ts";
import { type LengthNorm, termGain } from "../bm25.ts";
import { coverWeights } from "../coverage.ts";
import { type ChunkFilter, chunkFilter } from "../filter/filter.ts";
import type { MessagePass, WeightedTerm } from "../message-pass.ts";
import { type Passage, PassageScores } from "../passage-scores.ts";
import { findMessages, type MessageRun, type SessionMessages } from "./session-messages.ts";

/** A message's place and score. */
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
 * A session for the ranking. Messages are identified by their place, 0 to `count` - 1 in session
 * order, and are numbers until one is requested.
 */
export interface ScoredSession {
  readonly session: number;
  readonly count: number;
  /** BM25 of each message and its outputs, without role and boosts; 0 without a match. */
  readonly scores: Float64Array;
  /** BM25 of each message together with its neighbours, and of its own outputs. */
  readonly passages: Float64Array;
  /** The part of both that comes from tool outputs. */
  readonly outputs: Float64Array;
  /** The covered share of the query by weight, in the best passage. */
  readonly covered: number;
  /** As `covered`, without tool outputs. */
  readonly said: number;
  /** An index into `ROLES` for each message. */
  readonly roles: Uint8Array;
  /** Each term's frequency in the whole session. */
  readonly counts: Float64Array;
  readonly length: number;
  /** Whether a message may be a hit. */
  accepts(place: number): boolean;
  spot(place: number): ScoredSpot;
}

/** A chunk prepared for scoring, once for all sessions. */
interface ReadyChunk {
  readonly columns: ChunkColumns;
  readonly filter: ChunkFilter | null;
  /** For each query term: in texts, and in outputs. */
  readonly lists: readonly (TermList | null)[];
  readonly outputs: readonly (TermList | null)[];
}

/** A term of the query in both fields of the messages. */
export interface PairedTerm {
  readonly said: WeightedTerm;
  readonly given: WeightedTerm | undefined;
  /** Its index in `terms` as an author's name; -1: none. */
  readonly actor: number;
  /** Its weight in coverage. */
  readonly cover: number;
}

/** Above any source's maximum. */
const MAX_CHUNKS = 2 ** 20;

const NOTHING = new Float64Array(0);
/** Most searches score no whole session. */
const NO_ROOM: PlaceColumns = {
  scores: NOTHING,
  outputs: NOTHING,
  lengths: NOTHING,
  outputLengths: NOTHING,
  roles: new Uint8Array(0),
  documents: new Uint32Array(0),
  runs: new Uint32Array(0),
};

/** The result is valid until the next session is scored: arrays are reused. */
export class SessionScorer {
  readonly #pass: MessagePass;
  readonly #passages: PassageScores;
  readonly #terms: readonly PairedTerm[];
  readonly #toCover: number;
  readonly #chunks = new Map<number, ReadyChunk>();
  #columns: PlaceColumns = NO_ROOM;

  constructor(
    pass: MessagePass,
    passage: Passage = { neighbours: 0, norm: pass.norm, covers: false },
  ) {
    this.#pass = pass;
    this.#passages = new PassageScores(passage);
    this.#terms = pairTerms(pass);
    this.#toCover = this.#terms.reduce((sum, { cover }) => sum + cover, 0);
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
    const { lengths, roles, documents, runs, scores, outputs, outputLengths } = this.#columns;
    const length = fillColumns(this.#columns, found, ready);
    const { norm, outputNorm } = this.#pass;
    const counts = new Float64Array(this.#terms.length);
    const passages = this.#passages;
    passages.begin(lengths, found.count);
    for (const [index, { said, given, actor, cover }] of this.#terms.entries()) {
      const { weight } = said;
      visit(found.runs, ready, "lists", index, (place, count) => {
        const gain = weight * termGain(norm, count, lengths[place] as number);
        scores[place] = (scores[place] as number) + gain;
        counts[index] = (counts[index] as number) + count;
        passages.add(place, count);
      });
      if (given !== undefined) {
        visit(found.runs, ready, "outputs", index, (place, count) => {
          const gain = given.weight * termGain(outputNorm, count, outputLengths[place] as number);
          outputs[place] = (outputs[place] as number) + gain;
          passages.addOutput(place);
        });
      }
      if (actor >= 0 && cover > 0) {
        visit(found.runs, ready, "lists", actor, (place) => passages.addMark(place));
      }
      passages.endTerm(weight, cover);
    }
    const around = passages.scores(scores);
    for (let place = 0; place < found.count; place++) {
      const given = outputs[place] as number;
      scores[place] = (scores[place] as number) + given;
      if (around !== scores) around[place] = (around[place] as number) + given;
    }
    return {
      session,
      count: found.count,
      scores,
      passages: around,
      outputs,
      covered: this.#toCover === 0 ? 0 : passages.mostCovered() / this.#toCover,
      said: this.#toCover === 0 ? 0 : passages.mostSaid() / this.#toCover,
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
    const listOf = (term: WeightedTerm | undefined) => {
      const found = term?.inViews[number];
      return found === null || found === undefined ? null : found.list(chunk);
    };
    const lists = this.#terms.map(({ said }) => listOf(said));
    const outputs = this.#terms.map(({ given }) => listOf(given));
    if (columns === undefined || filter === undefined) return undefined;
    if (lists.includes(undefined) || outputs.includes(undefined)) return undefined;
    const ready = { columns, filter, lists, outputs } as ReadyChunk;
    this.#chunks.set(key, ready);
    return ready;
  }
}

/** Pairs the terms of both fields. */
export function pairTerms({
  terms,
  outputs,
}: Pick<MessagePass, "terms" | "outputs">): PairedTerm[] {
  const byTerm = new Map(outputs.map((each) => [each.term, each]));
  const indexes = new Map(terms.map(({ term }, i) => [term.label, i]));
  const covers = coverWeights(terms);
  return terms.map((said, i) => ({
    said,
    given: byTerm.get(said.term),
    actor: indexes.get(actorTerm(said.term.label)) ?? -1,
    cover: covers[i] as number,
  }));
}

/** Calls `at` for each message of the session that has a term in a field. */
function visit(
  runs: readonly MessageRun[],
  ready: readonly ReadyChunk[],
  field: "lists" | "outputs",
  index: number,
  at: (place: number, count: number) => void,
): void {
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i] as MessageRun;
    const list = ready[i]?.[field][index];
    if (list === null || list === undefined) continue;
    const first = run.from - run.chunk * CHUNK_DOCUMENTS;
    const { documents, from, to, shift } = slicePostings(list, first, first + run.places.length);
    for (let posting = from; posting < to; posting++) {
      const place = run.places[(documents[posting] as number) - first] as number;
      if (place >= 0) at(place, countAt(list, posting + shift));
    }
  }
}

interface PlaceColumns {
  readonly scores: Float64Array;
  readonly outputs: Float64Array;
  readonly outputLengths: Float64Array;
  readonly lengths: Float64Array;
  readonly roles: Uint8Array;
  readonly documents: Uint32Array;
  /** The run of each message. */
  readonly runs: Uint32Array;
}

function roomFor(count: number): PlaceColumns {
  return {
    scores: new Float64Array(count),
    outputs: new Float64Array(count),
    outputLengths: new Float64Array(count),
    lengths: new Float64Array(count),
    roles: new Uint8Array(count),
    documents: new Uint32Array(count),
    runs: new Uint32Array(count),
  };
}

/** Fills the ranking's columns of each message, by place, without scores. Returns the total length. */
function fillColumns(
  columns: PlaceColumns,
  { runs, count }: SessionMessages,
  ready: readonly ReadyChunk[],
): number {
  columns.scores.fill(0, 0, count);
  columns.outputs.fill(0, 0, count);
  let total = 0;
  for (let i = 0; i < runs.length; i++) {
    const { from, chunk, places } = runs[i] as MessageRun;
    const { lengths, roles, outputs } = (ready[i] as ReadyChunk).columns;
    const first = from - chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      if (place < 0) continue;
      const length = lengths[first + at] as number;
      total += length;
      columns.lengths[place] = length;
      columns.outputLengths[place] = outputs?.lengths[first + at] ?? 0;
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
