/**
 * A text to find in messages, word by word: any white space matches any other.
 *
 * As whole words it is found where no letter or digit continues it. With `ignoreCase` capitals do
 * not matter then, except inside a word: `typeerror` is not `TypeError`, whose parts are words of
 * the index. Within words it is found anywhere.
 */

import { DIGIT, LOWER, TAIL, UPPER } from "../analysis/character.ts";
import { fold } from "../analysis/fold.ts";

export interface TextRun {
  readonly text: string;
  /** In the arguments of tool calls; or in their results, and in what users said. */
  readonly of: "calls" | "results";
  readonly wholeWords: boolean;
  readonly ignoreCase: boolean;
}

/** A range of the compared text, in UTF-16 units. */
export interface RunPlace {
  readonly start: number;
  readonly end: number;
}

export type RunFinder = (text: string) => RunPlace | undefined;

/** Not the byte order mark, which the index ignores within words. */
const SPACE = /[^\S\uFEFF]/;
const SPACES = /[^\S\uFEFF]+/;

/** The parts of `text` between white space. */
export function chunksOf(text: string): readonly string[] {
  return text.split(SPACES).filter((chunk) => chunk !== "");
}

/** Finds the first place of the run; its time is linear in the text. */
export function runFinder({ text, wholeWords, ignoreCase }: Omit<TextRun, "of">): RunFinder {
  const formOf = ignoreCase ? smallLetters : (each: string) => each;
  const chunks = chunksOf(text).map(formOf);
  const written = withInnerCapitals(text);
  const [first] = chunks;
  if (first === undefined) return () => undefined;
  return (source) => {
    const compared = formOf(source);
    for (let start = compared.indexOf(first); start >= 0; ) {
      const end = endOfRun(compared, start, chunks);
      const isFound =
        end >= 0 &&
        (!wholeWords ||
          (isWhole(source, start, end) &&
            (!ignoreCase || withInnerCapitals(source.slice(start, end)) === written)));
      if (isFound) return { start, end };
      start = compared.indexOf(first, start + 1);
    }
    return undefined;
  };
}

/** As long as `text`: `İ` alone has longer small letters. */
function smallLetters(text: string): string {
  const small = text.toLowerCase();
  return small.length === text.length ? small : text.replaceAll("İ", "I").toLowerCase();
}

function endOfRun(text: string, start: number, chunks: readonly string[]): number {
  let at = start;
  for (const [i, chunk] of chunks.entries()) {
    const before = at;
    while (i > 0 && SPACE.test(text[at] ?? "")) at++;
    if ((i > 0 && at === before) || !text.startsWith(chunk, at)) return -1;
    at += chunk.length;
  }
  return at;
}

function isWhole(text: string, start: number, end: number): boolean {
  const [first, last] = [codePointAt(text, start), codePointBefore(text, end)];
  if (isWordCharacter(first) && isWordCharacter(codePointBefore(text, start))) return false;
  if (!isWordCharacter(last)) return true;
  // `don't` is `do not` in the index.
  const isNegated = /^n['\u2019\u02BC]t$/i.test(text.slice(end - 1, end + 2));
  return !isNegated && !isWordCharacter(codePointAt(text, end));
}

function codePointAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function codePointBefore(text: string, at: number): string {
  if (at === 0) return "";
  const isPair = at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return text.slice(at - (isPair ? 2 : 1), at);
}

/** Whether the index joins the character to a word beside it. */
function isWordCharacter(character: string): boolean {
  if (character === "" || character === "_") return character === "_";
  const { text, classes } = fold(character);
  // An invisible one.
  if (text === "") return true;
  return classes.some(
    (each) => each === LOWER || each === UPPER || each === DIGIT || each === TAIL,
  );
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const PLURAL_ACRONYM = /^\p{Lu}+s$/u;

/** Whether the index splits a word of letters at its capitals: `fooBar`, `HTTPServer`; not `URLs`. */
export function hasInnerCapitals(word: string): boolean {
  return INNER_CAPITAL.test(word) && !PLURAL_ACRONYM.test(word);
}

/** With single spaces, and small letters in words without capitals inside. */
function withInnerCapitals(text: string): string {
  return chunksOf(text)
    .join(" ")
    .replace(WORD, (word) => (hasInnerCapitals(word) ? word : word.toLowerCase()));
}
