/**
 * A bounded top-k, collapsed by session: the best sessions so far, each by its best message; or the
 * best messages of one session.
 */

export interface Best {
  /** The collapse key: a session, or a single message of the only session in scope. */
  readonly key: number;
  readonly session: number;
  readonly score: number;
  /** The message's place: the number of the view, and the document. */
  readonly view: number;
  /** -1: only the session itself matches. */
  readonly document: number;
}

/** Whether message `a` ranks before message `b` of the same score. */
export type Tie = (a: Best, b: Best) => boolean;

/**
 * Holds sessions, not messages: the threshold is the k-th session's score, and many good messages
 * of one session do not raise it.
 */
export class TopSessions {
  readonly #limit: number;
  readonly #isBefore: Tie;
  readonly #byKey = new Map<number, Best>();
  /** The best first. */
  readonly #sorted: Best[] = [];

  constructor(limit: number, isBefore: Tie) {
    this.#limit = limit;
    this.#isBefore = isBefore;
  }

  /** The score that a message must exceed to enter, except for ties. */
  get threshold(): number {
    if (this.#sorted.length < this.#limit) return 0;
    return this.#sorted[this.#limit - 1]?.score ?? 0;
  }

  /** The score of a session, or of a message, if it is among the best; else 0. */
  bestOf(key: number): number {
    return this.#byKey.get(key)?.score ?? 0;
  }

  offer(
    session: number,
    score: number,
    view: number,
    document: number,
    key: number = session,
  ): void {
    if (score < this.threshold) return;
    const offered: Best = { key, session, score, view, document };
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      if (!this.#beats(offered, known)) return;
      this.#sorted.splice(this.#sorted.indexOf(known), 1);
    } else if (this.#sorted.length >= this.#limit) {
      const last = this.#sorted.at(-1) as Best;
      if (!this.#beats(offered, last)) return;
      this.#sorted.pop();
      this.#byKey.delete(last.key);
    }
    this.#byKey.set(key, offered);
    this.#sorted.splice(this.#place(offered), 0, offered);
  }

  /** Restores a copied `list`. */
  restore(best: readonly Best[]): void {
    this.#byKey.clear();
    this.#sorted.length = 0;
    for (const each of best) this.#keep(each);
  }

  /** Keeps the elements that `keeps` accepts. */
  filter(keeps: (best: Best) => boolean): TopSessions {
    const kept = new TopSessions(this.#limit, this.#isBefore);
    for (const best of this.#sorted) if (keeps(best)) kept.#keep(best);
    return kept;
  }

  /** The best first. */
  list(): readonly Best[] {
    return this.#sorted;
  }

  #keep(best: Best): void {
    this.#sorted.push(best);
    this.#byKey.set(best.key, best);
  }

  #beats(a: Best, b: Best): boolean {
    return a.score !== b.score ? a.score > b.score : this.#isBefore(a, b);
  }

  #place(offered: Best): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#beats(this.#sorted[middle] as Best, offered)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
