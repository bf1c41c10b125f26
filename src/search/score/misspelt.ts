/**
 * Fuzzy matching: replaces query words without a match by terms within a small edit distance.
 *
 * The first two letters must match, which keeps the dictionary scan short.
 */

import type { Blobs } from "../index/blobs.ts";
import { SESSION_FIELDS } from "../index/layout.ts";
import type { Asking } from "../port.ts";
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
): Asking<{ readonly terms: readonly QueryTerm[]; readonly notes: readonly string[] }> {
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
  for (const other of new Set(lists.flatMap((list) => list ?? []))) {
    const errors = countErrors(term, other, fewest);
    if (errors > fewest) continue;
    if (errors < fewest) alike = [];
    fewest = errors;
    alike.push(other);
  }
  return alike.sort().slice(0, MAX_STANDING);
}

/**
 * The optimal string alignment distance: insertions, deletions, substitutions and transpositions.
 * Any number above `limit` means more errors than that.
 */
export function countErrors(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let errors = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        errors = Math.min(errors, (beforeLast[j - 2] as number) + 1);
      }
      row.push(errors);
    }
    if (Math.min(...row) > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
