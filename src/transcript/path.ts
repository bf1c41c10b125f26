/**
 * A path from the root to one entry, as a short list of chain ranges.
 *
 * An entry is on the path if its chain is in the list and it is no deeper than the range reaches.
 * Reading a page of a path is one index range per chain, however long the session is.
 */

import type { Chain } from "./place.ts";

export interface PathEnd {
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** The part of one chain that lies on a path. */
export interface PathRange {
  readonly chain: number;
  /** Messages before this chain on the path: its own have greater ordinals. */
  readonly afterOrdinal: number;
  /** How far the path follows the chain. */
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
    // A chain leaves one that was there before it. Damage may say otherwise, and must not lead in circles.
    at =
      chain === undefined || chain.parentChain >= chain.chain
        ? null
        : { chain: chain.parentChain, depth: chain.forkDepth, ordinal: chain.forkOrdinal };
  }
  ranges.push({ chain: 0, afterOrdinal: 0, maxDepth: 0, maxOrdinal: 0 });
  return ranges.reverse();
}

/** The ranges that hold any of the messages with ordinals `from` to `to`, both included. */
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
