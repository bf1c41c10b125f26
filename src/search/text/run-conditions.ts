/** The words that a wholly indexed message has wherever it has a text. */

import { type Language, MORPHOLOGIES } from "../analysis/analyze.ts";
import { tokenize } from "../analysis/tokenize.ts";
import { hiddenTerm } from "../index/special-terms.ts";
import type { Condition } from "../query/query.ts";
import { chunksOf, hasInnerCapitals, type TextRun } from "./text-run.ts";

/** The limit of required words: the longest are the rarest. */
const MAX_WORDS = 16;
/** Longer ones are not words. */
const MAX_LETTERS = 32;
/** A chunk of a text whose terms do not depend on its neighbours: ASCII without apostrophes. */
const PLAIN = /^[!-&(-~]+$/;
/** One word, with punctuation around it. */
const SINGLE = /^[^A-Za-z0-9]*([A-Za-z]+)[^A-Za-z0-9]*$/;
/** Endings of contractions, which are no terms: `they're`. */
const CLITICS: ReadonlySet<string> = new Set(["re", "ve", "ll"]);

/**
 * A message must meet one condition of each group; none: the index cannot tell.
 *
 * Within words the first and the last chunk may be parts of longer words. The others stand between
 * spaces; their capitals may differ, so only those of one word have a known term.
 */
export function runConditions(run: TextRun, language: Language): Condition[][] {
  const { wholeWords } = run;
  const chunks = chunksOf(run.text);
  const words = (wholeWords ? chunks : chunks.slice(1, -1)).flatMap((chunk) => {
    if (!PLAIN.test(chunk)) return [];
    return wholeWords ? (chunk.match(/[A-Za-z0-9]+/g) ?? []) : (SINGLE.exec(chunk)?.slice(1) ?? []);
  });
  return [...new Set(words)]
    .filter((word) => /^[A-Za-z]{2,}$/.test(word) && word.length <= MAX_LETTERS)
    .filter((word) => !CLITICS.has(word.toLowerCase()))
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) =>
      (wholeWords && hasInnerCapitals(word)
        ? [partsOf(word, language)]
        : formsOf(word.toLowerCase(), language).map((form) => [form])
      ).flatMap((terms) => [
        { kind: "terms", terms },
        { kind: "terms", terms: terms.map(hiddenTerm) },
      ]),
    );
}

/** The terms of a word, however it is capitalised: its stem, the whole of `fooBar`, `IDs`. */
function formsOf(word: string, language: Language): string[] {
  const { stem, acronyms } = MORPHOLOGIES[language];
  return [...new Set([stem(word), word, ...(word.endsWith("s") ? [acronyms(word)] : [])])];
}

function partsOf(word: string, language: Language): string[] {
  const parts: string[] = [];
  tokenize(word, 0, MORPHOLOGIES[language], (term, _position, _start, _end, kind) => {
    if (kind === "part" || kind === "word") parts.push(term);
  });
  return parts;
}
