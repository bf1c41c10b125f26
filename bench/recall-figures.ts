/** Quality figures of a ranking, and their comparison. */

import type { Question } from "./recall-data.ts";
import { randomNumbers } from "./synthetic.ts";

/** A message that was found, and its session. */
export interface Found {
  readonly conversation: string;
  readonly session: string;
  /** Null: only the session itself matches. */
  readonly message: string | null;
}

/** A ranking: the best sessions and the best messages for a question. */
export interface Ranker {
  sessions(question: Question): Found[] | Promise<Found[]>;
  messages(question: Question): Found[] | Promise<Found[]>;
}

/** The gain of each question, from 0 to 1, by name of the figure; NaN where nothing is known. */
export type Gains = Readonly<Record<FigureName, Float64Array>>;

export const FIGURES = ["hit@1", "hit@3", "hit@5", "R@10", "MRR"] as const;
export type FigureName = (typeof FIGURES)[number];

export async function measureGains(ranker: Ranker, questions: readonly Question[]): Promise<Gains> {
  const gains = Object.fromEntries(
    FIGURES.map((name) => [name, new Float64Array(questions.length)]),
  ) as Record<FigureName, Float64Array>;
  for (const [i, question] of questions.entries()) {
    const right = new Set(question.sessions);
    const found = await ranker.sessions(question);
    const rank = found.findIndex(({ session }) => right.has(session));
    for (const k of [1, 3, 5] as const) gains[`hit@${k}`][i] = rank >= 0 && rank < k ? 1 : 0;
    gains.MRR[i] = rank < 0 ? 0 : 1 / (rank + 1);
    gains["R@10"][i] = await evidenceShare(ranker, question);
  }
  return gains;
}

/** The share of the evidence that is among the first ten messages. */
async function evidenceShare(ranker: Ranker, question: Question): Promise<number> {
  if (question.messages.length === 0) return Number.NaN;
  const evidence = new Set(question.messages);
  const found = await ranker.messages(question);
  const right = found
    .slice(0, 10)
    .filter(
      ({ conversation, message }) =>
        conversation === question.conversation && message !== null && evidence.has(message),
    );
  return right.length / evidence.size;
}

/** In percent, over the questions that have the figure. */
export function mean(gains: Float64Array): number {
  const known = gains.filter((gain) => !Number.isNaN(gain));
  return (100 * known.reduce((sum, gain) => sum + gain, 0)) / known.length;
}

const RESAMPLES = 2_000;

/**
 * The paired bootstrap's 95 % interval of the difference of two rankings over the same questions,
 * in points. A lower bound above 0 is a significant gain.
 */
export function differenceBounds(a: Float64Array, b: Float64Array): readonly [number, number] {
  const differences = a.map((gain, i) => gain - (b[i] as number)).filter((d) => !Number.isNaN(d));
  const random = randomNumbers(1);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < differences.length; i++) {
      sum += differences[Math.floor(random() * differences.length)] as number;
    }
    return (100 * sum) / differences.length;
  }).sort();
  return [
    means[Math.floor(RESAMPLES * 0.025)] ?? Number.NaN,
    means[Math.ceil(RESAMPLES * 0.975) - 1] ?? Number.NaN,
  ];
}
