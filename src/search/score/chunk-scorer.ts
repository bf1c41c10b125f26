/**
 * Block-max MaxScore: scores the messages of one chunk, window by window, and skips those that
 * cannot enter the result.
 *
 * In each window every term has an upper bound of its score. Terms whose bounds together stay below
 * the threshold are *not essential*: a message that has only these cannot get in. So only the lists
 * of the essential terms are read; the others are looked up for the few remaining candidates.
 * Survivors are scored again, exactly, in the order of the query, so that the result does not
 * depend on skipping.
 *
 * Bounds are computed here, from counts and lengths: weights and averages may change without a
 * rebuild. Pruning needs a clear margin below the threshold, so that ties are kept.
 */

import { CHUNK_WINDOWS, ROLES, WINDOW_DOCUMENTS } from "../index/layout.ts";
import { countAt } from "../index/lists/packed-counts.ts";
import {
  documentsOf,
  type PostingSlice,
  placeOf,
  slicePostings,
  type TermList,
} from "../index/lists/term-list.ts";
import {
  type ChunkColumns,
  codeAt,
  gatherCodes,
  lengthOf,
  type NormColumns,
  prepareCodes,
  roleOf,
} from "../index/message-columns.ts";
import { bestGains, sameRules } from "./best-gains.ts";
import { type LengthNorm, termGain } from "./bm25.ts";
import type { OpenDocuments } from "./filter/open-documents.ts";

/**
 * A query term in one field of this chunk. `weight` is its idf times its query weight and the
 * field's; `columns` has the field's lengths and `norm` their normalisation.
 */
export interface ScoredList {
  readonly list: TermList;
  readonly weight: number;
  readonly columns: NormColumns;
  readonly norm: LengthNorm;
}

export interface ChunkTask {
  /** In the order of the query. */
  readonly lists: readonly ScoredList[];
  readonly columns: ChunkColumns;
  /** By index of role. */
  readonly roleWeights: Float64Array;
  /** The maximum boost of a session beside its messages. */
  readonly maxBoost: number;
  /** Messages that may be hits. Undefined: `accepts` alone decides. */
  readonly open: OpenDocuments | undefined;
  /** Whether any message of the window may be a hit. */
  readonly isOpen: (window: number) => boolean;
  /** Whether a message may be a hit. Called only for good scores. */
  readonly accepts: (document: number) => boolean;
  /** The current threshold, which only rises. */
  readonly threshold: () => number;
  /**
   * Whether a message with about this score may change the result: its session may have a better
   * one.
   */
  readonly matters: (document: number, score: number) => boolean;
  readonly offer: (document: number, score: number) => void;
}

/** Factor by which a bound must fall short of the threshold, so that rounding cannot matter. */
const CLEARLY = 1 - 1e-6;
/** The best candidates are offered first, to raise the threshold. */
const GOOD = 0.8;

const ANY = [0];

/** The cost of a look-up in postings read. */
const LOOKUP_COST = 16;

/** The minimum role weight in `sums`, where 0 means unset. */
const LEAST = 1e-200;
/** By index of role. */
const weights = new Float64Array(ROLES.length);
/**
 * The partial score of each message of the window, times its role weight; 0: none, -1: already
 * offered.
 */
const sums = new Float64Array(WINDOW_DOCUMENTS);
/** The codes of a list's messages in the window, in list order. */
const near = new Uint16Array(WINDOW_DOCUMENTS);
/** The messages with a partial score, in order of their first posting. */
const touched = new Uint16Array(WINDOW_DOCUMENTS);
/** The remaining candidates. */
const candidates = new Uint16Array(WINDOW_DOCUMENTS);

export function scoreChunk(task: ChunkTask): void {
  prepareCodes(task.columns);
  if (task.columns.outputs !== undefined) prepareCodes(task.columns.outputs);
  if (task.threshold() === 0) offerFirst(task);
  for (let role = 0; role < weights.length; role++) {
    weights[role] = Math.max(task.roleWeights[role] as number, LEAST);
  }
  const lists = task.lists.map((scored) => new ActiveList(scored, task));
  const active: ActiveList[] = [];
  for (let window = 0; window < CHUNK_WINDOWS; window++) {
    active.length = 0;
    let total = task.maxBoost;
    for (const list of lists) {
      if (!list.enter(window)) continue;
      total += list.bound;
      insert(active, list);
    }
    if (active.length === 0 || total < task.threshold() * CLEARLY) continue;
    if (task.isOpen(window)) scoreWindow(task, active, window * WINDOW_DOCUMENTS);
  }
}

/** With fewer postings, `offerFirst` costs more than it saves. */
const MANY_POSTINGS = 2_048;
/** Messages offered first, or four times as many until there is a threshold. */
const FIRST = 64;
/** Messages tried for it: a filter may reject many. */
const LOOKED_AT = 1_024;

/**
 * Offers some messages with the rarest words first. Without a threshold every message of the first
 * window would be a candidate, and dominate the work.
 */
function offerFirst(task: ChunkTask): void {
  const { columns, roleWeights } = task;
  if (task.lists.reduce((sum, { list }) => sum + list.count, 0) < MANY_POSTINGS) return;
  let offered = 0;
  let looked = 0;
  const open: (boolean | undefined)[] = [];
  for (const { list } of task.lists.toSorted((a, b) => b.weight - a.weight)) {
    // Dense lists are of frequent terms.
    if (list.documents === undefined) continue;
    for (const document of list.documents) {
      const window = Math.floor(document / WINDOW_DOCUMENTS);
      open[window] ??= task.isOpen(window);
      if (!open[window] || task.open?.has(document) === false) continue;
      if (++looked > LOOKED_AT) return;
      if (!task.accepts(document)) continue;
      const role = roleWeights[columns.roles[document] as number] as number;
      task.offer(document, exactScore(task, document) * role);
      offered++;
      if (offered >= 4 * FIRST || (offered >= FIRST && task.threshold() > 0)) return;
    }
  }
}

/** By their bounds, the smallest first. */
function insert(active: ActiveList[], list: ActiveList): void {
  let at = active.length;
  active.push(list);
  for (; at > 0 && (active[at - 1] as ActiveList).bound > list.bound; at--) {
    active[at] = active[at - 1] as ActiveList;
  }
  active[at] = list;
}

/** The exact score of a message, without role and boosts: always summed in the same order. */
export function exactScore(task: ChunkTask, document: number): number {
  let score = 0;
  for (const { list, weight, norm, columns } of task.lists) {
    const at = placeOf(list, document);
    if (at < 0) continue;
    score += weight * termGain(norm, countAt(list, at), columns.lengths[document] as number);
  }
  return score;
}

/** With so few postings in a window, reading all is cheaper than pruning. */
const FEW = 32;

function scoreWindow(task: ChunkTask, active: ActiveList[], base: number): void {
  let postings = 0;
  for (let i = 0; i < active.length; i++) {
    const { from, to } = active[i] as ActiveList;
    postings += to - from;
  }
  if (postings <= FEW) {
    let count = 0;
    for (let i = 0; i < active.length; i++) {
      count = addList(active[i] as ActiveList, task.open, base, count);
    }
    offerAll(task, base, touched, count);
    for (let i = 0; i < count; i++) sums[touched[i] as number] = 0;
    return;
  }
  const needed = task.threshold() * CLEARLY - task.maxBoost;
  let below = 0;
  let essential = 0;
  for (let i = 0; i < active.length; i++) {
    const list = active[i] as ActiveList;
    list.below = below;
    below += list.bound;
    if (below < needed) essential = i + 1;
  }
  let count = 0;
  for (let i = essential; i < active.length; i++) {
    count = addList(active[i] as ActiveList, task.open, base, count);
  }
  candidates.set(touched.subarray(0, count));
  let left = keep(count, (active[essential] as ActiveList).below, needed);
  // The other terms, largest bound first: each reduces the candidates.
  for (let i = essential - 1; i >= 0 && left > 0; i--) {
    const list = active[i] as ActiveList;
    if (left * LOOKUP_COST < list.to - list.from) lookUp(list, base, left);
    else addToTouched(list, base);
    left = keep(left, list.below, needed);
  }
  offerAll(task, base, candidates, left);
  for (let i = 0; i < count; i++) sums[touched[i] as number] = 0;
}

/** The documents of a list in the window that begins at `base`. Valid until the next call. */
function windowOf({ scored, from, to }: ActiveList, base: number): PostingSlice {
  const { list } = scored;
  if (list.documents === undefined) return slicePostings(list, base, base + WINDOW_DOCUMENTS);
  return { documents: list.documents, from, to, shift: 0 };
}

/** Term-at-a-time: adds a term's gain to the window. Gives the number of touched messages. */
function addList(
  active: ActiveList,
  open: OpenDocuments | undefined,
  base: number,
  first: number,
): number {
  const ranges = open?.rangesOf(base / WINDOW_DOCUMENTS);
  if (ranges === undefined || (ranges.length / 2) * LOOKUP_COST > active.to - active.from) {
    return addSlice(active, windowOf(active, base), open, base, first);
  }
  let count = first;
  for (let i = 0; i < ranges.length; i += 2) {
    const slice = slicePostings(active.scored.list, ranges[i] as number, ranges[i + 1] as number);
    count = addSlice(active, slice, undefined, base, count);
  }
  return count;
}

/** As `addList`, for some postings of the window. */
function addSlice(
  active: ActiveList,
  { documents, from, to, shift }: PostingSlice,
  open: OpenDocuments | undefined,
  base: number,
  first: number,
): number {
  const { list, columns, norm: rule } = active.scored;
  const factor = active.scored.weight * rule.gain;
  const { base: normBase, slope } = rule;
  // A tight loop: these random reads overlap their cache misses only without other work between
  // them.
  gatherCodes(columns, documents, from, to, near);
  let count = first;
  for (let i = from; i < to; i++) {
    if (open !== undefined && !open.has(documents[i] as number)) continue;
    const times = countAt(list, i + shift);
    const slot = (documents[i] as number) - base;
    const code = near[i - from] as number;
    const role = weights[roleOf(code)] as number;
    const norm = normBase + slope * lengthOf(code);
    const gain = (factor * role * times) / (times + norm);
    const sum = sums[slot] as number;
    if (sum === 0) touched[count++] = slot;
    sums[slot] = sum + gain;
  }
  return count;
}

/** As `addList`, for touched messages only. */
function addToTouched(active: ActiveList, base: number): void {
  const { list, columns, norm: rule } = active.scored;
  const { documents, from, to, shift } = windowOf(active, base);
  const factor = active.scored.weight * rule.gain;
  const { base: normBase, slope } = rule;
  for (let i = from; i < to; i++) {
    const document = documents[i] as number;
    const sum = sums[document - base] as number;
    if (sum === 0) continue;
    const times = countAt(list, i + shift);
    const code = codeAt(columns, document);
    const role = weights[roleOf(code)] as number;
    const norm = normBase + slope * lengthOf(code);
    sums[document - base] = sum + (factor * role * times) / (times + norm);
  }
}

/** As `addList`, for the few remaining candidates. */
function lookUp(active: ActiveList, base: number, left: number): void {
  const { list, columns, norm: rule } = active.scored;
  const factor = active.scored.weight * rule.gain;
  const { base: normBase, slope } = rule;
  for (let i = 0; i < left; i++) {
    const slot = candidates[i] as number;
    const document = base + slot;
    const at = placeOf(list, document);
    if (at < 0) continue;
    const times = countAt(list, at);
    const code = codeAt(columns, document);
    const role = weights[roleOf(code)] as number;
    const norm = normBase + slope * lengthOf(code);
    sums[slot] = (sums[slot] as number) + (factor * role * times) / (times + norm);
  }
}

/** Keeps the candidates that can reach the threshold with `rest` more. Gives their number. */
function keep(count: number, rest: number, needed: number): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const slot = candidates[i] as number;
    if ((sums[slot] as number) + rest >= needed) candidates[kept++] = slot;
  }
  return kept;
}

/** Offers the candidates that pass the filter, best first, to raise the threshold. */
function offerAll(task: ChunkTask, base: number, from: Uint16Array, count: number): void {
  let best = 0;
  for (let i = 0; i < count; i++) best = Math.max(best, sums[from[i] as number] as number);
  const { roles } = task.columns;
  for (const good of count > 1 ? [best * GOOD, 0] : ANY) {
    let needed = task.threshold() * CLEARLY - task.maxBoost;
    for (let i = 0; i < count; i++) {
      const slot = from[i] as number;
      const sum = sums[slot] as number;
      if (sum < good || sum < 0 || sum < needed) continue;
      const document = base + slot;
      sums[slot] = -1;
      // With a margin: this sum may differ in the last digit.
      if (!task.matters(document, sum / CLEARLY) || !task.accepts(document)) continue;
      const role = task.roleWeights[roles[document] as number] as number;
      task.offer(document, exactScore(task, document) * role);
      needed = task.threshold() * CLEARLY - task.maxBoost;
    }
  }
}

/** A list of the chunk, window by window. */
class ActiveList {
  readonly scored: ScoredList;
  readonly #roleWeights: Float64Array;
  readonly #factor: number;
  /** Block-max impacts of each window, or of the chunk. Undefined: the list has no bounds. */
  readonly #gains: Float64Array | undefined;
  readonly #isByWindow: boolean;
  /** Its postings in the window. */
  from = 0;
  to = 0;
  /** Upper bound of the term's gain in the window. */
  bound = 0;
  /** The sum of the bounds of all lists with smaller bounds. */
  below = 0;

  constructor(scored: ScoredList, { roleWeights }: ChunkTask) {
    const { norm } = scored;
    const { bounds } = scored.list;
    this.scored = scored;
    this.#roleWeights = roleWeights;
    this.#factor = scored.weight * norm.gain;
    this.#gains = bounds && bestGains(bounds, sameRules({ norm, roleWeights }));
    this.#isByWindow = bounds !== undefined && bounds.starts.length > 2;
  }

  /** False without a posting there. */
  enter(window: number): boolean {
    const { windows } = this.scored.list;
    this.from = windows[window] as number;
    this.to = windows[window + 1] as number;
    if (this.from === this.to) return false;
    this.bound = this.#boundOf(window);
    return true;
  }

  #boundOf(window: number): number {
    const gains = this.#gains;
    if (gains === undefined) return this.#factor * this.#bestOf(this.from, this.to);
    return this.#factor * (gains[this.#isByWindow ? window : 0] as number);
  }

  #bestOf(from: number, to: number): number {
    const roleWeights = this.#roleWeights;
    const { list, norm, columns } = this.scored;
    const documents = documentsOf(list);
    let best = 0;
    for (let i = from; i < to; i++) {
      const document = documents[i] as number;
      const count = countAt(list, i);
      const code = codeAt(columns, document);
      const role = roleWeights[roleOf(code)] as number;
      const gain = (role * count) / (count + norm.base + norm.slope * lengthOf(code));
      if (gain > best) best = gain;
    }
    return best;
  }
}
