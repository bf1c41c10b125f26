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

/** Words at successive positions; null is any word. Begins and ends with a word. */
export type RunWords = readonly (string | null)[];

/**
 * Finds the ranges of a text that gave one of `terms`, or a term with one of `prefixes`; and those
 * of `runs`, as one range per line. In order and disjoint: overlapping ranges, such as an identifier
 * and its part, are joined.
 */
export function matchFinder(
  terms: ReadonlySet<string>,
  prefixes: readonly string[],
  language: Language,
  runs: readonly RunWords[] = [],
): (text: string) => MatchRange[] {
  const inRuns = new Set(runs.flat());
  const known = new Set([...terms, ...inRuns].filter((term) => term !== null));
  const starts = new Set(Array.from(known, (term) => startOf(term, 0, term.length)));
  const morphology = onlyFor(starts, MORPHOLOGIES[language]);
  return (text) => {
    const found: MatchRange[] = [];
    const places: Places = new Map();
    const folded = fold(text);
    const take: TokenSink = (term, position, start, end, kind) => {
      if (inRuns.has(term)) addPlace(places, term, position, { start, end });
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
    const words = prefixes.length === 0 ? plainWords(folded, starts, take) : undefined;
    tokenizeFolded(folded, 0, morphology, take, words);
    for (const run of runs) found.push(...rangesOf(run, places, text));
    return merged(found.sort((a, b) => a.start - b.start || b.end - a.end));
  };
}

/** Fast path: most words share no prefix with a term, and need no string. */
function plainWords(folded: Folded, starts: ReadonlySet<number>, take: TokenSink): PlainWords {
  return {
    word({ text }, from, end, position, stem) {
      if (!starts.has(startOf(text, from, end))) return;
      const start = folded.starts?.[from] ?? from;
      take(stem(text.slice(from, end)), position, start, folded.ends?.[end - 1] ?? end, "word");
    },
  };
}

/** By term and position. */
type Places = Map<string, Map<number, MatchRange>>;

function addPlace(places: Places, term: string, position: number, range: MatchRange): void {
  const own = places.get(term);
  if (own === undefined) places.set(term, new Map([[position, range]]));
  else own.set(position, range);
}

/** The run in each place of the text, its lines apart. */
function rangesOf(run: RunWords, places: Places, text: string): MatchRange[] {
  const placeOf = (word: string | null | undefined, position: number) =>
    places.get(word ?? "")?.get(position);
  const ranges: MatchRange[] = [];
  for (const [position, { start }] of places.get(run[0] ?? "") ?? []) {
    const isThere = run.every((word, i) => word === null || placeOf(word, position + i));
    const end = placeOf(run.at(-1), position + run.length - 1)?.end ?? start;
    if (isThere && end > start) ranges.push(...linesOf(text, start, end));
  }
  return ranges;
}

function* linesOf(text: string, start: number, end: number): Generator<MatchRange> {
  for (const { 0: line, index } of text.slice(start, end).matchAll(/[^\s](?:[^\n]*[^\s])?/g)) {
    yield { start: start + index, end: start + index + line.length };
  }
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
