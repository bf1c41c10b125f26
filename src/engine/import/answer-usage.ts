/**
 * One answer, one usage, also where its parts were stored at different times.
 *
 * A reader puts what an answer took on its last part. When only the first parts were there, they were
 * stored with what it had taken by then, and no entry ever changes. So a later part gets what is not
 * yet told of its answer.
 */

import type { Usage } from "../../model/entry.ts";
import { combineUsage } from "../../model/usage.ts";

/** Parts of an answer stand near each other. */
const KEPT_ANSWERS = 64;

export class AnswerUsage {
  /** Of each answer, by how much more is stored than was read; less than nothing is possible. */
  readonly #ahead: Map<string, Usage>;

  constructor(earlier?: AnswerUsage) {
    this.#ahead = new Map(earlier === undefined ? [] : earlier.#ahead);
  }

  /** A part that is stored: with `stored`, where the reader has `read`. */
  found(answer: string, read: Usage | null, stored: Usage | null): void {
    const more = combineUsage(stored ?? NOTHING, read ?? NOTHING, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(this.#ahead.get(answer) ?? NOTHING, more, (a, b) => a + b),
    );
  }

  /** What a new part is to be stored with. */
  take(answer: string, read: Usage | null): Usage | null {
    const ahead = this.#ahead.get(answer);
    if (ahead === undefined || read === null) return read;
    const usage = combineUsage(read, ahead, (count, before) => Math.max(0, count - before));
    const told = combineUsage(usage, read, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(ahead, told, (a, b) => a + b),
    );
    return Object.values(usage).some((count) => count > 0) ? usage : null;
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
