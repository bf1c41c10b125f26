/**
 * The statement of a message about a query: its sentence with most of the query's words, the values
 * in it, and whether it speaks of a change.
 */

import { type Language, MORPHOLOGIES } from "../analysis/analyze.ts";
import { stopWordWeight } from "../analysis/stop-words.ts";
import { tokenize } from "../analysis/tokenize.ts";

export interface Statement {
  /** Its content words, without numbers. */
  readonly words: ReadonlySet<string>;
  /** Its numbers, dates and times by their kind: `%`, `$`, `date`, or the word that is counted. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether it says that something changed, as in "now", "instead" or "increased". */
  readonly changes: boolean;
}

/** A person states a thing early; what follows is often pasted. */
export const MAX_TEXT = 4_096;
const MAX_SENTENCES = 40;
/** A pasted line of code or log is no statement. */
const MAX_SENTENCE = 600;

const CHANGES =
  /\b(?:now|instead|no longer|not anymore|actually|change[ds]?|update[ds]?|moved|increase[ds]?|decrease[ds]?|reduced?|extended|adjust(?:ed)?|rescheduled|postponed|revised|improved?|recent(?:ly)?|new|raised|lowered|grew|grown|growth|dropped|bumped|switched|replaced?|already|just|since|latest|so far|up to)\b/i;

const VALUE = /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b/i;

/** Whether a text may have a value, without which it states nothing that could change. */
export function mayState(text: string): boolean {
  return VALUE.test(text.slice(0, MAX_TEXT));
}

/** The statement in which `weigh` finds most; undefined if the text has no sentence. */
export function findStatement(
  text: string,
  language: Language,
  weigh: (words: ReadonlySet<string>) => number,
): Statement | undefined {
  let best: { readonly sentence: string; readonly words: ReadonlySet<string> } | undefined;
  let most = -1;
  for (const sentence of sentencesOf(text)) {
    const words = contentWordsOf(sentence, language);
    const weight = weigh(words);
    if (weight > most) [most, best] = [weight, { sentence, words }];
  }
  if (best === undefined) return undefined;
  const { sentence, words } = best;
  return { words, values: valuesOf(sentence, language), changes: CHANGES.test(sentence) };
}

/** Without blocks of code. */
function sentencesOf(text: string): readonly string[] {
  const prose = text
    .slice(0, MAX_TEXT)
    .split("```")
    .filter((_, i) => i % 2 === 0)
    .join("\n");
  const sentences = prose
    .split(/[.?!]\s|\n/)
    .map((sentence) => sentence.trim())
    .filter(
      (sentence) => sentence.length > 3 && sentence.length <= MAX_SENTENCE && isProse(sentence),
    );
  return sentences.slice(0, MAX_SENTENCES);
}

/** A pasted line of a log, JSON or code has more signs and digits. */
const LEAST_PROSE = 0.75;

function isProse(sentence: string): boolean {
  let letters = 0;
  for (const character of sentence) if (/[\p{L}\s]/u.test(character)) letters++;
  return letters >= LEAST_PROSE * sentence.length;
}

/** Without numbers. */
export function contentWordsOf(text: string, language: Language): ReadonlySet<string> {
  const words = new Set<string>();
  tokenize(text, 0, MORPHOLOGIES[language], (term, _position, _start, _end, kind) => {
    const isWord = kind === "word" || kind === "part" || kind === "pair";
    if (isWord && !/^\d/.test(term) && stopWordWeight(term, language) === 1) words.add(term);
  });
  return words;
}

const MONTHS =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const UNITS = "ms|s|kb|mb|gb|tb|px|kg|lbs?|km|miles?|k";
const COUNTS: ReadonlyMap<string, string> = new Map(
  ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"].map(
    (word, i) => [word, String(i + 1)] as const,
  ),
);

/** The kinds of values that are written in a way of their own, the most specific first. */
const WRITTEN: readonly (readonly [kind: string | undefined, pattern: RegExp])[] = [
  ["date", new RegExp(`\\b(${MONTHS}) (\\d{1,2})\\b`, "gi")],
  ["date", new RegExp(`\\b(\\d{1,2}) (${MONTHS})\\b`, "gi")],
  ["date", /\b(\d{4}-\d\d-\d\d)\b/g],
  ["time", /\b(\d{1,2}:\d\d) ?((?:am|pm)?)\b/gi],
  ["time", /\b(\d{1,2}) ?(am|pm)\b/gi],
  ["$", /[$€£] ?(\d[\d,]{0,15})/g],
  ["%", /\b(\d{1,12}(?:\.\d{1,6})?) ?(?:%|percent\b)/g],
  // The unit is the kind.
  [undefined, new RegExp(`\\b(\\d[\\d,]{0,15}(?:\\.\\d{1,6})?)[ -]?(${UNITS})\\b`, "gi")],
];

/** A count, and the two words after it: "three new cards" counts cards. */
const COUNTED =
  /\b(\d[\d,]{0,15}(?:\.\d{1,6})?|one|two|three|four|five|six|seven|eight|nine|ten)[ -]([a-z]{2,30})(?:[ -]([a-z]{2,30}))?/gi;

function valuesOf(sentence: string, language: Language): ReadonlyMap<string, ReadonlySet<string>> {
  const values = new Map<string, Set<string>>();
  const add = (kind: string, value: string) => {
    const own = values.get(kind) ?? new Set();
    values.set(kind, own.add(value.replaceAll(",", "").toLowerCase()));
  };
  let rest = sentence;
  for (const [kind, pattern] of WRITTEN) {
    rest = rest.replace(pattern, (_all, first: string, second: unknown) => {
      const unit = typeof second === "string" ? second : "";
      if (kind === undefined) add(unit.toLowerCase(), first);
      else add(kind, `${first} ${unit}`.trim());
      return " ; ";
    });
  }
  for (const [, number = "", ...counted] of rest.matchAll(COUNTED)) {
    const value = COUNTS.get(number.toLowerCase()) ?? number;
    for (const word of contentWordsOf(counted.filter(Boolean).join(" "), language)) {
      add(word, value);
    }
  }
  return values;
}
