/** Usage of answers, counted once: each line of an answer repeats the usage so far. */

import type { Usage } from "../../model/entry.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { combineUsage, totalTokens } from "../../model/usage.ts";

/** The lines of an answer are close together. */
const KEPT_ANSWERS = 64;

export class AnswerUsage {
  readonly #told = new RecentMap<string, Usage>(KEPT_ANSWERS);

  /** The usage that a line adds to its answer's earlier lines; null if none. */
  take(answer: string | undefined, usage: Usage): Usage | null {
    if (answer === undefined) return usage;
    const told = this.#told.get(answer);
    this.#told.set(answer, usage);
    if (told === undefined) return usage;
    const more = combineUsage(usage, told, (now, before) => Math.max(0, now - before));
    return totalTokens(more) > 0 ? more : null;
  }
}
