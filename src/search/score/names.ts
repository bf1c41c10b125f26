/** The identifiers of a query: which are known, and the weights of their parts. */

import { isTrivialName } from "../analysis/name.ts";
import type { Blobs } from "../index/blobs.ts";
import { MESSAGE_FIELDS, SESSION_FIELDS } from "../index/layout.ts";
import type { SansIo } from "../port.ts";
import type { ScoredTerm, TermQuery } from "../query/query.ts";
import type { View } from "../snapshot.ts";
import type { QueryTerm } from "./query-terms.ts";

const FIELDS = [...MESSAGE_FIELDS, ...SESSION_FIELDS] as const;

/** Factor for parts of a known identifier, in a query of names only. */
const KNOWN_PART = 0.1;

/**
 * The terms that a query is scored by. An unknown identifier is replaced by its non-trivial parts,
 * and a note reports one without a known part. `isHelpful` false leaves every term as typed.
 */
export function* findNames(
  query: TermQuery,
  isHelpful: boolean,
  views: readonly View[],
  blobs: Blobs,
): SansIo<{ readonly terms: QueryTerm[]; readonly notes: readonly string[] }> {
  const { scored } = query;
  if (!isHelpful) {
    const plain = scored.map(({ term, weight }) => ({ label: term, terms: [term], weight }));
    return { terms: plain, notes: [] };
  }
  const wholes = new Set(scored.flatMap(({ whole }) => whole ?? []));
  const partsOf = (whole: string) =>
    scored.filter((term) => term.whole === whole && !isTrivial(term));
  const forms = new Map<string, string>();
  const notes: string[] = [];
  yield* blobs.complete(() => {
    forms.clear();
    notes.length = 0;
    for (const whole of wholes) {
      const form = formsOf(whole).find((each) => isKnown(each, views));
      if (form !== undefined) forms.set(whole, form);
      else if (!partsOf(whole).some(({ term }) => isKnown(term, views))) {
        notes.push(`no match for ${whole}`);
      }
    }
  });
  const isNamesOnly = scored.every(
    ({ isPiece, whole, weight }) => !isPiece || whole !== undefined || weight < 0.5,
  );
  const terms = scored.flatMap((scoredTerm) => {
    const { term: label, weight, isPiece, whole } = scoredTerm;
    const isOfKnown = whole !== undefined && forms.has(whole);
    if (whole !== undefined && !isOfKnown && isTrivial(scoredTerm)) return [];
    const form = forms.get(label) ?? label;
    const own: QueryTerm = { label, terms: [form], weight, isPiece };
    if (!isOfKnown) return [own];
    return [{ ...own, whole, weight: isNamesOnly ? KNOWN_PART * weight : weight }];
  });
  return { terms, notes };
}

function isTrivial({ term }: ScoredTerm): boolean {
  return isTrivialName(term);
}

/** A name copied from JSON may begin with the letter of an escape: `tname` of `\tname`. */
function formsOf(whole: string): string[] {
  return /^[ntr]/.test(whole) ? [whole, whole.slice(1)] : [whole];
}

/** A missing blob makes the attempt run again. */
function isKnown(term: string, views: readonly View[]): boolean {
  return views.some(({ source }) =>
    FIELDS.some((field) => {
      const found = source.findTerm(field, term);
      return found !== null && found !== undefined;
    }),
  );
}
