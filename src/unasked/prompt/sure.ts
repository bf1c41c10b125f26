/**
 * Whether a found answer is sure enough to be said: a logistic sum of four figures, fitted once.
 *
 * How it was fitted, and what it gives on which sets, is in docs/decisions/unasked.md.
 */

/** Each is known before anything is said. */
export interface PromptFigures {
  /** How far the next 15 sessions are behind: 0, as good, to 1. One that is missing is as good. */
  readonly spread: number;
  /** The share of the best session among the six best messages. */
  readonly share: number;
  /** The prompt's words in one passage of the answer. */
  readonly words: number;
  /** By how much the caller's own session scores better: what it knows need not be said. */
  readonly own: number;
}

export interface Decision {
  readonly base: number;
  readonly weights: PromptFigures;
  /** The least score that speaks. */
  readonly least: number;
}

export const DECISION: Decision = {
  base: -5,
  weights: { spread: 7, share: 1.7, words: 0.31, own: -2.5 },
  least: 0.2,
};

export function scoreOf(
  figures: PromptFigures,
  { base, weights }: Pick<Decision, "base" | "weights"> = DECISION,
): number {
  const names = Object.keys(weights) as (keyof PromptFigures)[];
  return names.reduce((score, name) => score + weights[name] * figures[name], base);
}

export function isSure(figures: PromptFigures): boolean {
  return scoreOf(figures) >= DECISION.least;
}
