/** What an export left out, counted by name. */

export interface Loss {
  /** A plural, such as `branches` or `images`. */
  readonly what: string;
  readonly count: number;
}

export class LossLog {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    if (count > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get all(): readonly Loss[] {
    return [...this.#counts].map(([what, count]) => ({ what, count }));
  }
}
