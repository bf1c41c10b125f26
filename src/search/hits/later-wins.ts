/**
 * Later wins: of two statements about the same thing, the later one holds. Found without a model, by
 * the same words and a value that changed. Only what one person said is compared: answers repeat
 * both, and so do prompts of sub-agents.
 *
 * Where the query asks for what holds now, the later hit moves in front of the earlier one. The
 * earlier one is never hidden. How the limits were chosen is in docs/decisions/ranking.md.
 */

import type { Language } from "../analysis/analyze.ts";
import { contentWordsOf, findStatement, MAX_TEXT, mayState, type Statement } from "./statement.ts";

/** The message of a hit. */
export interface Said {
  readonly text: string;
  /** The person who said it; null: nobody. Only words of the same are compared. */
  readonly speaker: string | null;
  readonly time: number;
  readonly score: number;
  /** Where it was said: statements of different places are not compared. */
  readonly place: string;
}

/** Words of the query that both statements must have, by weight. */
const SAME_SUBJECT = 0.2;
/** Words that both statements must share, as a share of the one with less. */
const SAME_WORDS = 0.24;
/** A later hit that matches the query much worse is about something else. */
const NEAR_SCORE = 0.74;

interface Candidate extends Said {
  readonly statement: Statement;
}

/** For each hit the later one that supersedes it; undefined: it holds, or nobody can tell. */
export function findLater(
  hits: readonly (Said | undefined)[],
  query: readonly string[],
  language: Language,
): readonly (number | undefined)[] {
  const stating = hits.map((hit) =>
    hit !== undefined && hit.speaker !== null && mayState(hit.text) ? hit : undefined,
  );
  if (stating.filter((hit) => hit !== undefined).length < 2) return [];
  const weight = weights(hits, language);
  const total = sum(query, weight) || 1;
  const asked = new Set(query);
  const candidates = stating.map((hit): Candidate | undefined => {
    if (hit === undefined) return undefined;
    const weigh = (words: ReadonlySet<string>) =>
      sum(query, (word) => +words.has(word) * weight(word));
    const statement = findStatement(hit.text, language, weigh);
    return statement && { ...hit, statement };
  });
  return candidates.map((earlier) => {
    let best: number | undefined;
    let most = 0;
    for (const [i, later] of candidates.entries()) {
      if (earlier === undefined || later === undefined) continue;
      const points = supersedes(later, earlier, asked, weight, total);
      if (points > most) [most, best] = [points, i];
    }
    return best;
  });
}

/** 0: it does not; else how surely. */
function supersedes(
  later: Candidate,
  earlier: Candidate,
  asked: ReadonlySet<string>,
  weight: (word: string) => number,
  total: number,
): number {
  if (later.time <= earlier.time || later.place !== earlier.place) return 0;
  if (later.speaker !== earlier.speaker) return 0;
  if (later.score < NEAR_SCORE * earlier.score) return 0;
  const [a, b] = [earlier.statement, later.statement];
  const shared = [...a.words].filter((word) => b.words.has(word));
  const subject = sum(shared, (word) => +asked.has(word) * weight(word)) / total;
  if (subject < SAME_SUBJECT) return 0;
  const words = sum(shared, weight) / (Math.min(sum(a.words, weight), sum(b.words, weight)) || 1);
  if (words < SAME_WORDS) return 0;
  const changed = changedKinds(a, b);
  const says = b.changes && a.values.size > 0 && b.values.size > 0;
  if (changed.length === 0 && !says) return 0;
  return words + subject + (changed.some((kind) => asked.has(kind)) ? 0.2 : 0) + (says ? 0.1 : 0);
}

/** The kinds of which the later statement has another value. */
function changedKinds(earlier: Statement, later: Statement): readonly string[] {
  return [...earlier.values].flatMap(([kind, before]) => {
    const after = later.values.get(kind);
    return after !== undefined && [...after].some((value) => !before.has(value)) ? [kind] : [];
  });
}

/** Weights of words: how rare they are among the hits. */
function weights(
  hits: readonly (Said | undefined)[],
  language: Language,
): (word: string) => number {
  const counts = new Map<string, number>();
  for (const hit of hits) {
    for (const word of contentWordsOf(hit?.text.slice(0, MAX_TEXT) ?? "", language)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return (word) => Math.log(1 + hits.length / ((counts.get(word) ?? 0) + 0.5));
}

function sum(words: Iterable<string>, weight: (word: string) => number): number {
  let total = 0;
  for (const word of words) total += weight(word);
  return total;
}
