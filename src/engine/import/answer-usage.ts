/**
 * Distributes an answer's usage over parts that were stored at different times.
 *
 * A reader puts an answer's usage on its last part. If only the first parts existed then, they were
 * stored with the usage so far, and entries are immutable. So a later part gets the remainder.
 */

import type { Usage } from "../../model/entry.ts";
import { combineUsage, totalTokens } from "../../model/usage.ts";

/** Parts of an answer are close together. */
const KEPT_ANSWERS = 64;

export class AnswerUsage {
  /** By answer: stored minus read usage; may be negative. */
  readonly #ahead: Map<string, Usage>;

  constructor(earlier?: AnswerUsage) {
    this.#ahead = new Map(earlier === undefined ? [] : earlier.#ahead);
  }

  /** Records a stored part: `stored` usage, where the reader has `read`. */
  found(answer: string, read: Usage | null, stored: Usage | null): void {
    const more = combineUsage(stored ?? NOTHING, read ?? NOTHING, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(this.#ahead.get(answer) ?? NOTHING, more, (a, b) => a + b),
    );
  }

  /** The usage that a new part is stored with. */
  take(answer: string, read: Usage | null): Usage | null {
    const ahead = this.#ahead.get(answer);
    if (ahead === undefined || read === null) return read;
    const usage = combineUsage(read, ahead, (count, before) => Math.max(0, count - before));
    const told = combineUsage(usage, read, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(ahead, told, (a, b) => a + b),
    );
    return totalTokens(usage) > 0 ? usage : null;
  }

  #set(answer: string, ahead: Usage): void {
    this.#ahead.delete(answer);
    this.#ahead.set(answer, ahead);
    const [first] = this.#ahead.keys();
    if (this.#ahead.size > KEPT_ANSWERS && first !== undefined) this.#ahead.delete(first);
  }
}

const NOTHING: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
};
