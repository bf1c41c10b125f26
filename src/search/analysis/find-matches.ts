/** The ranges of query words in a text: for highlighting, and to centre a snippet. */

import { type Language, MORPHOLOGIES } from "./analyze.ts";
import { type Folded, fold } from "./fold.ts";
import type { Morphology } from "./morphology.ts";
import { type PlainWords, type TokenSink, tokenizeFolded } from "./tokenize.ts";

/** UTF-16 offsets into the original text. */
export interface MatchRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the ranges of a text that gave one of `terms`, or a term with one of `prefixes`. In order
 * and disjoint: overlapping ranges, such as an identifier and its part, are joined.
 */
export function matchFinder(
  terms: ReadonlySet<string>,
  prefixes: readonly string[],
  language: Language,
): (text: string) => MatchRange[] {
  const starts = new Set(Array.from(terms, (term) => startOf(term, 0, term.length)));
  const morphology = onlyFor(starts, MORPHOLOGIES[language]);
  return (text) => {
    const found: MatchRange[] = [];
    const folded = fold(text);
    const take: TokenSink = (term, _position, start, end, kind) => {
      if (terms.has(term)) {
        found.push({ start, end });
        return;
      }
      const prefix = prefixes.find((one) => term.startsWith(one));
      if (prefix === undefined) return;
      // Mark only the queried letter of a pair, unless folding has changed its length.
      const exact = kind === "pair" && end - start === term.length;
      found.push({ start, end: exact ? start + prefix.length : end });
    };
    const words = prefixes.length === 0 ? plainWords(folded, terms, starts, found) : undefined;
    tokenizeFolded(folded, 0, morphology, take, words);
    return merged(found.sort((a, b) => a.start - b.start || b.end - a.end));
  };
}

/** Fast path: most words share no prefix with a term, and need no string. */
function plainWords(
  folded: Folded,
  terms: ReadonlySet<string>,
  starts: ReadonlySet<number>,
  found: MatchRange[],
): PlainWords {
  return {
    word({ text }, from, end, _position, stem) {
      if (!starts.has(startOf(text, from, end)) || !terms.has(stem(text.slice(from, end)))) return;
      const start = folded.starts?.[from] ?? from;
      found.push({ start, end: folded.ends?.[end - 1] ?? end });
    },
  };
}

/**
 * Stemming keeps the first two letters, so only words with a term's first two letters can match.
 */
function startOf(text: string, from: number, end: number): number {
  return (text.charCodeAt(from) << 16) | (end - from > 1 ? text.charCodeAt(from + 1) : 0);
}

function onlyFor(starts: ReadonlySet<number>, morphology: Morphology): Morphology {
  const stem = (word: string) =>
    starts.has(startOf(word, 0, word.length)) ? morphology.stem(word) : word;
  return { ...morphology, stem };
}

function merged(ranges: readonly MatchRange[]): MatchRange[] {
  const apart: MatchRange[] = [];
  for (const range of ranges) {
    const last = apart.at(-1);
    if (last === undefined || range.start >= last.end) apart.push(range);
    else if (range.end > last.end) apart[apart.length - 1] = { start: last.start, end: range.end };
  }
  return apart;
}
