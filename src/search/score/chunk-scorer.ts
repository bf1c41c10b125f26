/**
 * Scores the messages of one chunk, window by window, and skips what cannot matter.
 *
 * In each window every term has a bound: what the best message there could gain by it. Terms whose
 * bounds together stay below the threshold are *not essential*: a message that has only these cannot
 * get in. So only the lists of the essential terms are read; the others are looked up for the few
 * messages that may still make it. Whoever survives is scored again, exactly, in the order of the
 * query, so that the result does not depend on what was skipped.
 *
 * Bounds are computed here, from counts and lengths: weights and averages may change without a
 * rebuild. A bound is pruned only if it is clearly below the threshold, so ties are seen.
 */

import { CHUNK_WINDOWS, WINDOW_DOCUMENTS } from "../index/layout.ts";
import type { ChunkColumns } from "../index/message-columns.ts";
import { lowerBound, type TermList } from "../index/term-list.ts";
import type { LengthNorm } from "./bm25.ts";

/** A term of the query in this chunk. `weight` is its idf times its weight in the query. */
export interface ScoredList {
  readonly list: TermList;
  readonly weight: number;
}

export interface ChunkTask {
  /** In the order of the query. */
  readonly lists: readonly ScoredList[];
  readonly columns: ChunkColumns;
  readonly norm: LengthNorm;
  /** By index of role. */
  readonly roleWeights: Float64Array;
  /** What a session may gain beside its messages, at most. */
  readonly maxBoost: number;
  /** Whether any message of the window may be a hit. */
  readonly isOpen: (window: number) => boolean;
  /** Whether a message may be a hit. Called only for those that score well enough. */
  readonly accepts: (document: number) => boolean;
  /** The score that is needed now. It only rises. */
  readonly threshold: () => number;
  readonly offer: (document: number, score: number) => void;
}

/** What a bound must fall short of the threshold by, so that rounding cannot matter. */
const CLEARLY = 1 - 1e-6;
/** Good ones first: they raise the threshold for the others. */
const GOOD = 0.8;

const sums = new Float64Array(WINDOW_DOCUMENTS);
const touched = new Uint16Array(WINDOW_DOCUMENTS);

export function scoreChunk(task: ChunkTask): void {
  const bounds = task.lists.map((scored) => new ListBounds(scored, task));
  const active: ActiveList[] = [];
  for (let window = 0; window < CHUNK_WINDOWS; window++) {
    active.length = 0;
    let total = task.maxBoost;
    for (const [i, scored] of task.lists.entries()) {
      const from = scored.list.windows[window] as number;
      const to = scored.list.windows[window + 1] as number;
      if (from === to) continue;
      const bound = (bounds[i] as ListBounds).of(window);
      total += bound;
      active.push({ scored, from, to, bound, below: 0 });
    }
    if (active.length === 0 || total < task.threshold() * CLEARLY) continue;
    if (task.isOpen(window)) scoreWindow(task, active, window * WINDOW_DOCUMENTS);
  }
}

/** The exact score of a message, without role and boosts: always summed in the same order. */
export function exactScore(task: ChunkTask, document: number): number {
  const { norm, columns } = task;
  const length = columns.lengths[document] as number;
  let score = 0;
  for (const { list, weight } of task.lists) {
    const at = lowerBound(list.documents, document, 0, list.count);
    if (list.documents[at] !== document) continue;
    const count = list.counts[at] as number;
    score += (weight * norm.gain * count) / (count + norm.base + norm.slope * length);
  }
  return score;
}

interface ActiveList {
  readonly scored: ScoredList;
  readonly from: number;
  readonly to: number;
  readonly bound: number;
  /** The bounds of all lists with smaller bounds, together. */
  below: number;
}

function scoreWindow(task: ChunkTask, active: ActiveList[], base: number): void {
  active.sort((a, b) => a.bound - b.bound);
  const needed = task.threshold() * CLEARLY - task.maxBoost;
  let below = 0;
  let essential = 0;
  for (const [i, list] of active.entries()) {
    list.below = below;
    below += list.bound;
    if (below < needed) essential = i + 1;
  }
  let count = 0;
  for (let i = essential; i < active.length; i++) {
    count = addList(task, active[i] as ActiveList, base, count);
  }
  const rest = essential < active.length ? (active[essential] as ActiveList).below : below;

  let best = 0;
  for (let i = 0; i < count; i++) {
    const slot = touched[i] as number;
    const sum = sums[slot] as number;
    if (sum > best) best = sum;
  }
  for (const good of [true, false]) {
    for (let i = 0; i < count; i++) {
      const slot = touched[i] as number;
      const sum = sums[slot] as number;
      if (sum < 0 || (good && sum < best * GOOD)) continue;
      sums[slot] = -1;
      const document = base + slot;
      const role = task.roleWeights[task.columns.roles[document] as number] as number;
      if (sum * role + rest + task.maxBoost < task.threshold() * CLEARLY) continue;
      if (!task.accepts(document)) continue;
      refine(task, active, essential, document, sum, role);
    }
  }
  for (let i = 0; i < count; i++) sums[touched[i] as number] = 0;
}

/** Adds what each message of the window gains by a term. Gives the number of messages touched. */
function addList(task: ChunkTask, { scored, from, to }: ActiveList, base: number, first: number) {
  const { documents, counts } = scored.list;
  const { lengths } = task.columns;
  const factor = scored.weight * task.norm.gain;
  const { base: normBase, slope } = task.norm;
  let count = first;
  for (let i = from; i < to; i++) {
    const document = documents[i] as number;
    const times = counts[i] as number;
    const slot = document - base;
    const gain = (factor * times) / (times + normBase + slope * (lengths[document] as number));
    const sum = sums[slot] as number;
    if (sum === 0) touched[count++] = slot;
    sums[slot] = sum + gain;
  }
  return count;
}

/** Looks up the terms that are not essential, the largest first, for as long as it may still do. */
function refine(
  task: ChunkTask,
  active: readonly ActiveList[],
  essential: number,
  document: number,
  sum: number,
  role: number,
): void {
  const { norm, columns, maxBoost } = task;
  const length = columns.lengths[document] as number;
  const needed = task.threshold() * CLEARLY - maxBoost;
  let score = sum * role;
  for (let i = essential - 1; i >= 0; i--) {
    const { scored, from, to, below, bound } = active[i] as ActiveList;
    if (score + below + bound < needed) return;
    const { documents, counts } = scored.list;
    const at = lowerBound(documents, document, from, to);
    if (at === to || documents[at] !== document) continue;
    const count = counts[at] as number;
    const gain = (scored.weight * norm.gain * count) / (count + norm.base + norm.slope * length);
    score += gain * role;
  }
  if (score < needed) return;
  task.offer(document, exactScore(task, document) * role);
}

/** What the best message of each window could gain by a term. */
class ListBounds {
  readonly #task: ChunkTask;
  readonly #scored: ScoredList;
  #ofChunk: number | undefined;

  constructor(scored: ScoredList, task: ChunkTask) {
    this.#scored = scored;
    this.#task = task;
  }

  of(window: number): number {
    const { bounds, windows } = this.#scored.list;
    const factor = this.#scored.weight * this.#task.norm.gain;
    if (bounds === undefined) {
      return factor * this.#bestOf(windows[window] as number, windows[window + 1] as number);
    }
    if (bounds.starts.length > 2) {
      const { starts } = bounds;
      return factor * this.#bestTriple(starts[window] as number, starts[window + 1] as number);
    }
    this.#ofChunk ??= factor * this.#bestTriple(0, bounds.triples.length);
    return this.#ofChunk;
  }

  #bestTriple(from: number, to: number): number {
    const { norm, roleWeights } = this.#task;
    const triples = this.#scored.list.bounds?.triples as Uint32Array;
    let best = 0;
    for (let i = from; i < to; i++) {
      const triple = triples[i] as number;
      const count = triple & 0xff;
      const role = roleWeights[(triple >>> 8) & 0xff] as number;
      const gain = (role * count) / (count + norm.base + norm.slope * (triple >>> 16));
      if (gain > best) best = gain;
    }
    return best;
  }

  #bestOf(from: number, to: number): number {
    const { norm, roleWeights, columns } = this.#task;
    const { documents, counts } = this.#scored.list;
    let best = 0;
    for (let i = from; i < to; i++) {
      const document = documents[i] as number;
      const count = counts[i] as number;
      const role = roleWeights[columns.roles[document] as number] as number;
      const length = columns.lengths[document] as number;
      const gain = (role * count) / (count + norm.base + norm.slope * length);
      if (gain > best) best = gain;
    }
    return best;
  }
}
