/**
 * The place of a new entry in the tree: a path decomposition into chains.
 *
 * Paths are read without walking: each entry stores its *chain* (a run of entries without a fork),
 * its *depth* (entries from the root) and its *ordinal* (messages from the root), and never changes
 * them. An entry whose parent is the tip of its chain continues the chain; any other parent starts
 * a new one, and the chain row remembers where it forked off.
 *
 * Annotations (labels, extension state, aborted messages) do not move the leaf. They take their
 * anchor's place in the tree, so that they are on exactly the paths that their anchor is on.
 */

/** An entry as the planner sees it: enough to append a child. */
export interface Point {
  readonly id: string;
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
  readonly hash: Uint8Array;
  /** Whether it is the deepest entry of its chain. */
  readonly atTip: boolean;
  /** An annotation shares its anchor's place and cannot have children. */
  readonly annotation: boolean;
}

export interface TreePlace {
  readonly sequence: number;
  readonly parent: Point | null;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** A run of entries without a fork, and where it left its parent chain (chain 0: a root). */
export interface Chain {
  readonly chain: number;
  readonly parentChain: number;
  readonly forkDepth: number;
  readonly forkOrdinal: number;
}

/** Assigns places in one session, in append order. */
export class Placer {
  readonly newChains: Chain[] = [];
  #lastSequence: number;
  #lastChain: number;
  /** The depth of the tip of each chain that this placer has extended. */
  readonly #tips = new Map<number, number>();

  constructor(lastSequence: number, lastChain: number) {
    this.#lastSequence = lastSequence;
    this.#lastChain = lastChain;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  get lastChain(): number {
    return this.#lastChain;
  }

  /** The place of an entry that continues the conversation after `parent` (null: a new root). */
  child(parent: Point | null, isMessage: boolean): TreePlace {
    const chain = parent !== null && this.#isTip(parent) ? parent.chain : this.#fork(parent);
    const depth = (parent?.depth ?? 0) + 1;
    this.#tips.set(chain, depth);
    return {
      sequence: ++this.#lastSequence,
      parent,
      chain,
      depth,
      ordinal: (parent?.ordinal ?? 0) + (isMessage ? 1 : 0),
    };
  }

  /** The place of an annotation of `anchor` (null: of the empty session). */
  annotation(anchor: Point | null): TreePlace {
    return {
      sequence: ++this.#lastSequence,
      parent: anchor,
      chain: anchor?.chain ?? 0,
      depth: anchor?.depth ?? 0,
      ordinal: anchor?.ordinal ?? 0,
    };
  }

  #isTip(point: Point): boolean {
    const tip = this.#tips.get(point.chain);
    return tip === undefined ? point.atTip : tip === point.depth;
  }

  #fork(parent: Point | null): number {
    const chain: Chain = {
      chain: ++this.#lastChain,
      parentChain: parent?.chain ?? 0,
      forkDepth: parent?.depth ?? 0,
      forkOrdinal: parent?.ordinal ?? 0,
    };
    this.newChains.push(chain);
    return chain.chain;
  }
}
