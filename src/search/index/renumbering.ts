/**
 * Assigns the document numbers of a merged segment.
 *
 * There may be millions: only the new number of each document is held, and of a message its
 * session. It relies on ascending keys in each source.
 */

/** Marks a dropped document. */
export const DROPPED = 0xffff_ffff;

/** For each source, the new number of each of its documents, or `DROPPED`. */
export type Renumbering = readonly Uint32Array[];

export interface MergedKeys {
  readonly count: number;
  readonly renumbering: Renumbering;
}

/**
 * Merges keyed documents. `sources` holds the ascending keys of each source, oldest first: of each
 * key the newest version stays.
 */
export function mergeKeys<Key>(
  sources: readonly ArrayLike<Key>[],
  compare: (a: Key, b: Key) => number,
  isDropped: (key: Key, source: number, document: number) => boolean,
): MergedKeys {
  const renumbering = sources.map((each) => new Uint32Array(each.length).fill(DROPPED));
  let count = 0;
  /** The last numbered document. */
  let lastSource = -1;
  let lastDocument = -1;
  const keyOf = (source: number, document: number) =>
    (sources[source] as ArrayLike<Key>)[document] as Key;
  visitInOrder(sources, compare, (source, document) => {
    const key = keyOf(source, document);
    if (isDropped(key, source, document)) return;
    if (lastSource >= 0 && compare(keyOf(lastSource, lastDocument), key) === 0) {
      (renumbering[lastSource] as Uint32Array)[lastDocument] = DROPPED;
    } else count++;
    (renumbering[source] as Uint32Array)[document] = count - 1;
    lastSource = source;
    lastDocument = document;
  });
  return { count, renumbering };
}

/** The messages of one segment: each session begins where the previous one ends. */
export interface MessageTable {
  readonly slots: number;
  /** The sessions, ascending. */
  readonly numbers: Uint32Array;
  readonly starts: Uint32Array;
}

export interface JoinedMessages {
  readonly count: number;
  readonly sessions: Uint32Array;
  readonly renumbering: Renumbering;
}

/**
 * Merges messages by (session, sequence). The sources are in feed order, so a later one has a
 * session's later messages. Messages of `dead` sessions and, per source, `dropped` documents are
 * left out.
 */
export function joinMessages(
  sources: readonly MessageTable[],
  dead: ReadonlySet<number>,
  dropped: readonly ReadonlySet<number>[],
): JoinedMessages {
  const most = sources.reduce((total, { slots }) => total + slots, 0);
  const sessions = new Uint32Array(most);
  const renumbering = sources.map(({ slots }) => new Uint32Array(slots).fill(DROPPED));
  let next = 0;
  const sessionsOf = sources.map(({ numbers }) => numbers);
  visitInOrder(sessionsOf, byNumber, (source, at) => {
    const { numbers, starts, slots } = sources[source] as MessageTable;
    const session = numbers[at] as number;
    if (dead.has(session)) return;
    const end = starts[at + 1] ?? slots;
    for (let document = starts[at] as number; document < end; document++) {
      if (dropped[source]?.has(document)) continue;
      (renumbering[source] as Uint32Array)[document] = next;
      sessions[next] = session;
      next++;
    }
  });
  return { count: next, sessions: sessions.subarray(0, next), renumbering };
}

/** Iterates over the documents of all sources by their new numbers, which ascend in each. */
export class NewOrder {
  readonly #renumbering: Renumbering;
  readonly #places: Uint32Array;
  #number = -1;
  source = 0;
  document = -1;

  constructor(renumbering: Renumbering) {
    this.#renumbering = renumbering;
    this.#places = new Uint32Array(renumbering.length);
  }

  /** False at the end. */
  next(): boolean {
    this.#number++;
    // The next one is usually in the same source.
    for (let i = 0; i < this.#renumbering.length; i++) {
      const source = (this.source + i) % this.#renumbering.length;
      const numbers = this.#renumbering[source] as Uint32Array;
      let at = this.#places[source] as number;
      while (numbers[at] === DROPPED) at++;
      const isFound = numbers[at] === this.#number;
      this.#places[source] = isFound ? at + 1 : at;
      if (!isFound) continue;
      this.source = source;
      this.document = at;
      return true;
    }
    return false;
  }
}

/** Visits ascending sources in key order; of equal keys the older source first. */
function visitInOrder<Key>(
  sources: readonly ArrayLike<Key>[],
  compare: (a: Key, b: Key) => number,
  visit: (source: number, at: number) => void,
): void {
  const places = new Uint32Array(sources.length);
  const isOver = (source: number) =>
    (places[source] as number) >= (sources[source] as ArrayLike<Key>).length;
  const keyOf = (source: number) =>
    (sources[source] as ArrayLike<Key>)[places[source] as number] as Key;
  const isBefore = (a: number, b: number) => (compare(keyOf(a), keyOf(b)) || a - b) < 0;
  for (;;) {
    let first = -1;
    let second = -1;
    for (let source = 0; source < sources.length; source++) {
      if (isOver(source)) continue;
      if (first < 0 || isBefore(source, first)) {
        second = first;
        first = source;
      } else if (second < 0 || isBefore(source, second)) second = source;
    }
    if (first < 0) return;
    // Runs: messages written together are mostly adjacent.
    do {
      visit(first, places[first] as number);
      (places[first] as number)++;
    } while (!isOver(first) && (second < 0 || isBefore(first, second)));
  }
}

export function byNumber(a: number, b: number): number {
  return a - b;
}

/** The order of a dictionary, and of the names of notes. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
