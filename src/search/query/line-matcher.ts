/**
 * Compares a query with a text as it is written: the index has words alone, without signs and lines.
 */

const BETWEEN = "[^\\p{L}\\p{N}]+";
const IN_WORD = /[\p{L}\p{N}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const COLOURS = /\u001b\[[\d;]*m/g;

/**
 * `literal`: the query with its signs, apart from case and white space. `words`: its words one after
 * another, whatever is between them.
 */
export type LineMatch = "literal" | "words";

/** Whether a text has the query, at a place that counts. */
export type LineMatcher = (
  text: string,
  kind: LineMatch,
  counts?: (text: string, from: number, to: number) => boolean,
) => boolean;

/**
 * `typed` has a word. Both expressions are linear: what separates words is no part of one. They are
 * compiled when they are needed: that of the words takes a millisecond.
 */
export function lineMatcher(typed: string): LineMatcher {
  const known: { [kind in LineMatch]?: RegExp } = {};
  const compiled = (kind: LineMatch) => {
    known[kind] ??= new RegExp(kind === "literal" ? literalOf(typed) : wordsOf(typed), "giu");
    return known[kind];
  };
  return (written, kind, counts = () => true) => {
    const text = written.includes("\u001b") ? written.replace(COLOURS, "") : written;
    for (const { 0: found, index } of text.matchAll(compiled(kind))) {
      const end = index + found.length;
      if (isInside(text, index) || isInside(text, end)) continue;
      if (counts(text, index, end)) return true;
    }
    return false;
  };
}

function literalOf(typed: string): string {
  return typed.trim().split(/\s+/).map(escaped).join("\\s+");
}

function wordsOf(typed: string): string {
  return (typed.match(/[\p{L}\p{N}]+/gu) ?? []).join(BETWEEN);
}

/** Whether the place is within a word. */
function isInside(text: string, at: number): boolean {
  return IN_WORD.test(text[at - 1] ?? "") && IN_WORD.test(text[at] ?? "");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** As much of the text before a subject is looked at. */
const LOOKED_AT = 256;
const HASH = /(?<![\p{L}\p{N}])(?=[a-f]*\d)[\da-f]{7,40}(?![\p{L}\p{N}])/u;
const LOG_DATE = /^Date:[^\n]*\n\n {4}$/m;
const NUMBER = /^#?\d+\t$/;

/**
 * Whether this part of a text is the subject of a commit, or of a pull request, in a list or log:
 * behind a hash, below the date, or between a number and another column.
 */
export function isSubject(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - LOOKED_AT), from);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const isCell = text[to] === "\t" && NUMBER.test(line);
  return isCell || HASH.test(line) || LOG_DATE.test(before);
}
