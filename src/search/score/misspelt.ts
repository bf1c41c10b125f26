/**
 * Fuzzy matching: replaces query words without a match by terms within a small edit distance.
 *
 * The first two letters must match, which keeps the dictionary scan short.
 */

import type { Blobs } from "../index/blobs.ts";
import { SESSION_FIELDS } from "../index/layout.ts";
import type { SansIo } from "../port.ts";
import type { View } from "../snapshot.ts";
import type { QueryTerm } from "./query-terms.ts";

/** The fields of known words; tool outputs are excluded. */
const FIELDS = ["message", ...SESSION_FIELDS] as const;
const KNOWN_FIELDS = [...FIELDS, "output"] as const;

/** Shorter words have too many similar ones. */
const MIN_LENGTH = 5;
/** From this length two errors are tolerated, else one. */
const LONG_WORD = 8;
const KEPT_LETTERS = 2;
/** Limits: words of a query, and unmatched ones that are corrected. */
const MAX_LOOKED = 32;
const MAX_WORDS = 4;
/** Terms of a source that are compared. */
const MAX_COMPARED = 4_096;
/** Terms that may replace one word. */
const MAX_STANDING = 8;

/** `words` are the forms of each word; a word without any match is misspelt. */
export function* findMisspelt(
  words: readonly (readonly string[])[],
  weight: number,
  views: readonly View[],
  blobs: Blobs,
): SansIo<{ readonly terms: readonly QueryTerm[]; readonly notes: readonly string[] }> {
  const looked = words.slice(0, MAX_LOOKED);
  const known = yield* blobs.complete(() => looked.map((forms) => isKnown(forms, views)));
  const unknown = looked.filter((_, i) => known[i] === false).slice(0, MAX_WORDS);
  const terms: QueryTerm[] = [];
  const notes: string[] = [];
  for (const forms of unknown) {
    const [term = ""] = forms;
    const isAble = term.length >= MIN_LENGTH && /^[a-z]+$/.test(term);
    const alike = isAble ? yield* blobs.complete(() => findAlike(term, views)) : undefined;
    if (alike === undefined || alike.length === 0) {
      notes.push(`no match for ${forms.at(-1)}`);
      continue;
    }
    terms.push({ label: `${term}~`, terms: alike, weight });
    notes.push(`no match for ${forms.at(-1)}; similarly spelt words were searched instead`);
  }
  return { terms, notes };
}

/** Undefined if a blob is missing. */
function isKnown(forms: readonly string[], views: readonly View[]): boolean | undefined {
  const found = views.flatMap(({ source }) =>
    KNOWN_FIELDS.flatMap((field) => forms.map((form) => source.findTerm(field, form))),
  );
  return found.includes(undefined) ? undefined : found.some((term) => term !== null);
}

/** The terms with the fewest errors. Undefined if a blob is missing. */
function findAlike(term: string, views: readonly View[]): readonly string[] | undefined {
  const start = term.slice(0, KEPT_LETTERS);
  const lists = views.flatMap(({ source }) =>
    FIELDS.map((field) => source.termsWithPrefix(field, start, MAX_COMPARED)),
  );
  if (lists.includes(undefined)) return undefined;
  let fewest = term.length >= LONG_WORD ? 2 : 1;
  let alike: string[] = [];
  const letters = lettersOf(term);
  for (const list of lists) {
    for (const other of list ?? []) {
      // One error changes at most two bits, so this never leaves out a term within the distance.
      if (countBits(letters ^ lettersOf(other)) > 2 * fewest) continue;
      const errors = countErrors(term, other, fewest);
      if (errors > fewest) continue;
      if (errors < fewest) alike = [];
      fewest = errors;
      alike.push(other);
    }
  }
  return [...new Set(alike)].sort().slice(0, MAX_STANDING);
}

/** A bit for each letter of a word. */
function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Rows of `countErrors`, reused: thousands of terms are compared for one word. */
let beforeLast: number[] = [];
let last: number[] = [];
let row: number[] = [];

/**
 * The optimal string alignment distance: insertions, deletions, substitutions and transpositions.
 * Any number above `limit` means more errors than that.
 */
export function countErrors(a: string, b: string, limit: number): number {
  const tooMany = limit + 1;
  if (Math.abs(a.length - b.length) > limit) return tooMany;
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    // Further from the diagonal there are more errors than the limit.
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    row[from - 1] = from === 1 ? i : tooMany;
    row[to + 1] = tooMany;
    let fewest = row[from - 1] as number;
    const letter = a.charCodeAt(i - 1);
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1);
      let errors = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (letter === other ? 0 : 1),
      );
      const isSwap = letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other;
      if (isSwap && i > 1 && j > 1) errors = Math.min(errors, (beforeLast[j - 2] as number) + 1);
      row[j] = errors;
      fewest = Math.min(fewest, errors);
    }
    if (fewest > limit) return tooMany;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return last[b.length] as number;
}
