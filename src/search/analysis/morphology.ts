/** The language's part of the analyzer: stemming. */

import { stem } from "./stem.ts";

export interface Morphology {
  /** The indexed form of a folded word. */
  stem(word: string): string;
  /** As `stem`, without the cache, for callers with their own. */
  stemAnew(word: string): string;
  /** The words of `word'suffix`, or undefined where the apostrophe separates two words. */
  contraction(word: string, suffix: string): readonly string[] | undefined;
  /** A word that begins with a digit. */
  number(word: string): string;
  /** A plural acronym (capitals with a small `s`), in small letters. */
  acronyms(word: string): string;
  /** The term for a month, 1 to 12. */
  month(month: number): string;
}

/** No stemming. */
export const SIMPLE: Morphology = {
  stem: (word) => word,
  stemAnew: (word) => word,
  contraction: () => undefined,
  number: (word) => word,
  acronyms: (word) => word,
  month: (month) => String(month),
};

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/** Month names by their first three letters, so that long, short and numeric dates share a term. */
const MONTH_TERMS: ReadonlyMap<string, string> = new Map([
  ...MONTHS.map((month): [string, string] => [month, month.slice(0, 3)]),
  ["sept", "sep"],
]);

/** The stem before `n't`, if irregular. */
const NEGATED: ReadonlyMap<string, string> = new Map([
  ["ca", "can"],
  ["wo", "will"],
  ["sha", "shall"],
]);

const CLITICS: ReadonlySet<string> = new Set(["s", "m", "re", "ve", "ll", "d"]);
const ORDINAL = /^(\d+)(?:st|nd|rd|th)$/;

export const ENGLISH: Morphology = {
  stem: englishStem,
  stemAnew: (word) => MONTH_TERMS.get(word) ?? (mayChange(word) ? stem(word) : word),
  contraction(word, suffix) {
    // `not` must be found where it is written `n't`.
    if (suffix === "t" && word.endsWith("n") && word.length > 2) {
      const verb = word.slice(0, -1);
      return [englishStem(NEGATED.get(verb) ?? verb), "not"];
    }
    return CLITICS.has(suffix) ? [englishStem(word)] : undefined;
  },
  number: (word) => ORDINAL.exec(word)?.[1] ?? word,
  acronyms: (word) => word.slice(0, -1),
  month: (month) => (MONTHS[month - 1] ?? "").slice(0, 3),
};

/** The last letters of words that `stem` may change. */
const ENDS: ReadonlySet<number> = new Set(Array.from("sdgyinle", (letter) => letter.charCodeAt(0)));

function mayChange(word: string): boolean {
  return ENDS.has(word.charCodeAt(word.length - 1));
}

/**
 * A two-generation stem cache (approximate LRU). V8 copies slices this short, so no entry keeps its
 * source text alive.
 */
let known = new Map<string, string>();
/** The previous generation: a hit copies the stem into the current one. */
let older = new Map<string, string>();
const MAX_KNOWN = 32_768;
const MAX_KNOWN_LENGTH = 12;

function englishStem(word: string): string {
  // Fast path: most words have no ending that is stemmed.
  if (!mayChange(word)) return MONTH_TERMS.get(word) ?? word;
  if (word.length > MAX_KNOWN_LENGTH) return stem(word);
  const before = known.get(word);
  if (before !== undefined) return before;
  const made = older.get(word) ?? MONTH_TERMS.get(word) ?? stem(word);
  if (known.size >= MAX_KNOWN) {
    older = known;
    known = new Map();
  }
  known.set(word, made);
  return made;
}
