/** Where the words of a query stand in a text: for highlighting, and to centre a snippet. */

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
 * The ranges of `text` that gave one of `terms`, or a term that begins with one of `prefixes`.
 * In order, and apart: ranges that overlap, such as an identifier and its part, are one.
 */
export function findMatches(
  text: string,
  terms: ReadonlySet<string>,
  prefixes: readonly string[],
  language: Language,
): MatchRange[] {
  const found: MatchRange[] = [];
  const morphology = onlyFor(terms, MORPHOLOGIES[language]);
  const folded = fold(text);
  const words = prefixes.length === 0 ? plainWords(folded, terms, found) : undefined;
  const take: TokenSink = (term, _position, start, end, kind) => {
    if (terms.has(term)) {
      found.push({ start, end });
      return;
    }
    const prefix = prefixes.find((one) => term.startsWith(one));
    if (prefix === undefined) return;
    // Of a pair, only the letter that was asked for; unless folding has changed its length.
    const exact = kind === "pair" && end - start === term.length;
    found.push({ start, end: exact ? start + prefix.length : end });
  };
  tokenizeFolded(folded, 0, morphology, take, words);
  return merged(found.sort((a, b) => a.start - b.start || b.end - a.end));
}

/** Most words begin as no term does: of these not even a string is made. */
function plainWords(
  { starts, ends }: Folded,
  terms: ReadonlySet<string>,
  found: MatchRange[],
): PlainWords {
  const letters = firstLetters(terms);
  return {
    word(text, from, end, _position, stem) {
      if (!letters.has(text.charCodeAt(from)) || !terms.has(stem(text.slice(from, end)))) return;
      found.push({ start: starts?.[from] ?? from, end: ends?.[end - 1] ?? end });
    },
  };
}

/** Stemming keeps the first letter, so only words that begin as a term does can give it. */
function firstLetters(terms: ReadonlySet<string>): ReadonlySet<number> {
  return new Set(Array.from(terms, (term) => term.charCodeAt(0)));
}

function onlyFor(terms: ReadonlySet<string>, morphology: Morphology): Morphology {
  const letters = firstLetters(terms);
  const stem = (word: string) => (letters.has(word.charCodeAt(0)) ? morphology.stem(word) : word);
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
