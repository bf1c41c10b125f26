/** Coverage: the share of the query in one passage, and the re-rank by it. */

import type { WeightedTerm } from "./message-pass.ts";

/** Weight of a term that only the message before or after has. */
export const NEARBY = 0.7;

/** Weight of the parts of an identifier without the identifier itself. */
const PARTS = 0.3;

/**
 * The query counts as said in messages if one passage without tool outputs has this share of it.
 * Outputs with the same words are then mostly echoes, such as a log with the subject of a commit.
 */
export const SAID = 0.95;

/** Factor of outputs for a query that messages contain, and for one that outputs have verbatim. */
export const ECHO = 0.1;

/** The number of re-ranked sessions: the best by score. */
const MAX_SESSIONS = 20;

/**
 * The coverage weight of each term: its idf. Stop words have full weight here, unlike in the score.
 * An identifier weighs as much as its parts, and its parts alone cover it only in part.
 */
export function coverWeights(terms: readonly WeightedTerm[]): Float64Array {
  const covers = new Float64Array(terms.length);
  const indexes = new Map(terms.map(({ term }, i) => [term.label, i]));
  for (const [i, { term, weight }] of terms.entries()) {
    if (term.isPiece !== true || term.weight === 0) continue;
    const idf = weight / term.weight;
    const whole = term.whole === undefined ? undefined : indexes.get(term.whole);
    covers[i] = (covers[i] as number) + (whole === undefined ? idf : PARTS * idf);
    if (whole !== undefined) covers[whole] = (covers[whole] as number) + (1 - PARTS) * idf;
  }
  return covers;
}

/** What a hit gains by a run of all words of the query. */
export interface WeighedRun {
  /** On the scale of the best score. */
  readonly gain: number;
  /** Whether it has been compared with the query, and is a line. */
  readonly isLine: boolean;
}

/** The fields of a ranked message that the re-rank reads and changes. */
export interface Covered {
  readonly session: number;
  readonly score: number;
  readonly parts: { readonly coverage: number };
  /** The covered share of the query by weight, in the session's best passage: 0 to 1. */
  readonly covered: number;
  readonly run?: WeighedRun;
}

/** The sessions to re-rank by coverage: the best by score and run. */
export function bestSessions(placed: readonly Covered[]): ReadonlySet<number> {
  const best = bestScore(placed);
  const points = ({ score, run }: Covered) => score + best * (run?.gain ?? 0);
  const sessions = new Set<number>();
  for (const { session } of placed.toSorted((a, b) => points(b) - points(a))) {
    if (sessions.size === MAX_SESSIONS) break;
    sessions.add(session);
  }
  return sessions;
}

function bestScore(placed: readonly Covered[]): number {
  return placed.reduce((most, { score }) => Math.max(most, score), 0);
}

/**
 * Adds to each of the best `sessions` the share of the query that one passage covers, on the scale
 * of the best score: `score / best + weight * covered + gains`, times `best`. The others keep their
 * lower scores. `pairs` has a session's gain by adjacent words.
 */
export function withCoverage<Hit extends Covered>(
  placed: readonly Hit[],
  sessions: ReadonlySet<number>,
  weight: number,
  pairs: ReadonlyMap<number, number>,
): readonly (Hit & { readonly line?: number })[] {
  const best = bestScore(placed);
  return placed.map((each) => {
    if (!sessions.has(each.session)) return each;
    const run = best * (each.run?.gain ?? 0);
    const coverage = run + best * (weight * each.covered + (pairs.get(each.session) ?? 0));
    const parts = { ...each.parts, coverage };
    const line = each.run?.isLine === true ? { line: run } : {};
    return { ...each, ...line, score: each.score + coverage, parts };
  });
}
