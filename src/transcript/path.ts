/**
 * A path from the root to one entry, as a short list of chain ranges.
 *
 * An entry is on the path if its chain is in the list and its depth within the range. A page of a
 * path is one index range per chain, for a session of any length.
 */

import type { Chain } from "./place.ts";

export interface PathEnd {
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** The part of one chain on a path. */
export interface PathRange {
  readonly chain: number;
  /** Messages before this chain on the path: its own have greater ordinals. */
  readonly afterOrdinal: number;
  /** The last depth of the chain on the path. */
  readonly maxDepth: number;
  readonly maxOrdinal: number;
}

/**
 * The ranges of the path that ends at `end`, root first. `chains` holds at least the chains from
 * `end` to the root. The first range is chain 0, where the annotations of the empty session are.
 */
export function pathRanges(end: PathEnd | null, chains: ReadonlyMap<number, Chain>): PathRange[] {
  const ranges: PathRange[] = [];
  let at = end;
  while (at !== null && at.chain !== 0) {
    const chain = chains.get(at.chain);
    ranges.push({
      chain: at.chain,
      afterOrdinal: chain?.forkOrdinal ?? 0,
      maxDepth: at.depth,
      maxOrdinal: at.ordinal,
    });
    // A chain leaves an older one. Damage may contradict that, and must not cause a cycle.
    at =
      chain === undefined || chain.parentChain >= chain.chain
        ? null
        : { chain: chain.parentChain, depth: chain.forkDepth, ordinal: chain.forkOrdinal };
  }
  ranges.push({ chain: 0, afterOrdinal: 0, maxDepth: 0, maxOrdinal: 0 });
  return ranges.reverse();
}

/** The ranges with messages of ordinals `from` to `to`, inclusive. */
export function rangesWithOrdinals(
  ranges: readonly PathRange[],
  from: number,
  to: number,
): PathRange[] {
  return ranges.filter((range) => range.afterOrdinal < to && range.maxOrdinal >= from);
}

export function isOnPath(entry: PathEnd, ranges: readonly PathRange[]): boolean {
  return ranges.some((range) => range.chain === entry.chain && entry.depth <= range.maxDepth);
}
