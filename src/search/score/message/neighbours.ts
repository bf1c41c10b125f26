/** The messages before and after a message, in its session and on its path. */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import type { SessionPath } from "../../port.ts";
import type { View } from "../../snapshot.ts";
import { isOnPath } from "../filter/filter.ts";

/** A message's place. */
export interface Spot {
  readonly view: number;
  readonly document: number;
}

/** Adjacent messages of the session in a view, with the first one's sequence. */
interface Stretch extends Spot {
  /** Exclusive. */
  readonly end: number;
  readonly sequence: number;
}

/** The limit of messages without text that are skipped to find a neighbour. */
const MAX_PASSED = 16;

/** One session's messages. Each source has its own range of a session. */
export class SessionNeighbours {
  readonly #views: readonly View[];
  readonly #path: SessionPath | undefined;
  readonly #stretches: readonly Stretch[];

  private constructor(
    views: readonly View[],
    path: SessionPath | undefined,
    stretches: readonly Stretch[],
  ) {
    this.#views = views;
    this.#path = path;
    this.#stretches = stretches;
  }

  /** Undefined if a blob is missing. `path` determines which neighbours count. */
  static of(
    views: readonly View[],
    session: number,
    path: SessionPath | undefined,
  ): SessionNeighbours | undefined {
    const stretches: Stretch[] = [];
    for (const [view, { source }] of views.entries()) {
      const ranges = source.slotsOf(session);
      if (ranges === undefined) return undefined;
      for (const { from, to } of ranges) {
        const facts = source.facts(from);
        if (facts === undefined) return undefined;
        stretches.push({ view, document: from, end: to, sequence: facts.sequence });
      }
    }
    stretches.sort((a, b) => a.sequence - b.sequence);
    return new SessionNeighbours(views, path, stretches);
  }

  /** The nearest messages with text on both sides that are on the path. */
  of(spot: Spot): readonly Spot[] {
    return ([-1, 1] as const).flatMap((step) => this.#towards(spot, step) ?? []);
  }

  #towards(spot: Spot, step: 1 | -1): Spot | undefined {
    let next = this.#step(spot, step);
    for (let passed = 0; next !== undefined && passed < MAX_PASSED; passed++) {
      if (textLength(this.#views, next) > 0) return this.#isShown(next) ? next : undefined;
      next = this.#step(next, step);
    }
    return undefined;
  }

  #step({ view, document }: Spot, step: 1 | -1): Spot | undefined {
    const at = this.#stretches.findIndex(
      (each) => each.view === view && each.document <= document && document < each.end,
    );
    const own = this.#stretches[at];
    if (own === undefined) return undefined;
    const next = document + step;
    if (next >= own.document && next < own.end) return { view, document: next };
    const other = this.#stretches[at + step];
    return other && { view: other.view, document: step === 1 ? other.document : other.end - 1 };
  }

  #isShown({ view, document }: Spot): boolean {
    const { source, live } = this.#views[view] as View;
    if (live.messages !== null && live.messages[document] === 0) return false;
    if (this.#path === undefined || this.#path.isWhole) return true;
    const facts = source.facts(document);
    return facts !== undefined && isOnPath(facts, this.#path);
  }
}

/** In words, tool outputs apart; 0 if a blob is missing. */
export function textLength(views: readonly View[], { view, document }: Spot): number {
  const columns = views[view]?.source.columns(Math.floor(document / CHUNK_DOCUMENTS));
  return columns?.lengths[document % CHUNK_DOCUMENTS] ?? 0;
}
