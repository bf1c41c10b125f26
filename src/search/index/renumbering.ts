/** Which documents go into a joined segment, and under which numbers. */

/** A document that does not. */
export const DROPPED = 0xffff_ffff;

/** For each source, the new number of each of its documents, or `DROPPED`. */
export type Renumbering = readonly Uint32Array[];

export interface JoinedKeys<Key> {
  readonly keys: readonly Key[];
  readonly renumbering: Renumbering;
}

/**
 * Joins documents that have keys. `sources` holds the ascending keys of each source, the oldest
 * first: of each key the newest version stays.
 */
export function joinKeys<Key>(
  sources: readonly ArrayLike<Key>[],
  compare: (a: Key, b: Key) => number,
  isDropped: (key: Key, source: number, document: number) => boolean,
): JoinedKeys<Key> {
  const newest = new Map<Key, { readonly source: number; readonly document: number }>();
  for (const [source, keys] of sources.entries()) {
    for (let document = 0; document < keys.length; document++) {
      const key = keys[document] as Key;
      if (!isDropped(key, source, document)) newest.set(key, { source, document });
    }
  }
  const keys = [...newest.keys()].sort(compare);
  const renumbering = sources.map((each) => new Uint32Array(each.length).fill(DROPPED));
  for (const [number, key] of keys.entries()) {
    const from = newest.get(key);
    if (from !== undefined) (renumbering[from.source] as Uint32Array)[from.document] = number;
  }
  return { keys, renumbering };
}

/** A run of messages of one session in one source. */
export interface Run {
  readonly session: number;
  readonly source: number;
  readonly from: number;
  readonly to: number;
}

export interface JoinedMessages {
  readonly count: number;
  readonly sessions: Uint32Array;
  readonly renumbering: Renumbering;
  /** All messages in their new order; some of them may be dropped. */
  readonly runs: readonly Run[];
}

/**
 * Joins messages in the order of (session, sequence). The sources are in the order of the feed, so a
 * later one holds the later messages of a session. Those of `dead` sessions and, in each source, the
 * documents that are `dropped` stay behind.
 */
export function joinMessages(
  sources: readonly {
    readonly slots: number;
    readonly numbers: Uint32Array;
    readonly starts: Uint32Array;
  }[],
  dead: ReadonlySet<number>,
  dropped: readonly ReadonlySet<number>[],
): JoinedMessages {
  const runs: Run[] = [];
  for (const [source, { slots, numbers, starts }] of sources.entries()) {
    for (const [i, session] of numbers.entries()) {
      if (dead.has(session)) continue;
      runs.push({ session, source, from: starts[i] as number, to: starts[i + 1] ?? slots });
    }
  }
  runs.sort((a, b) => a.session - b.session || a.source - b.source);

  const most = runs.reduce((total, { from, to }) => total + to - from, 0);
  const sessions = new Uint32Array(most);
  const renumbering = sources.map(({ slots }) => new Uint32Array(slots).fill(DROPPED));
  let next = 0;
  for (const { session, source, from, to } of runs) {
    for (let document = from; document < to; document++) {
      if (dropped[source]?.has(document)) continue;
      (renumbering[source] as Uint32Array)[document] = next;
      sessions[next] = session;
      next++;
    }
  }
  return { count: next, sessions: sessions.subarray(0, next), renumbering, runs };
}

/** The order of a dictionary, and of the names of notes. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
