/** The terms of a query, found in every source of a snapshot. */

import { CHUNK_DOCUMENTS, type Field, MAX_TERM_COUNT, type MessageField } from "../index/layout.ts";
import { countAt, packCounts } from "../index/lists/packed-counts.ts";
import { documentsOf, type TermList, windowStarts } from "../index/lists/term-list.ts";
import type { FoundTerm } from "../index/source.ts";
import type { View } from "../snapshot.ts";

/** A scored unit of a query: a term, or all terms with a prefix. */
export interface QueryTerm {
  readonly label: string;
  readonly terms: readonly string[];
  readonly weight: number;
  /** A word of the query, or a part of an identifier in it. */
  readonly isPiece?: boolean;
  /** For a part of an identifier: the identifier's label, if some message has it. */
  readonly whole?: string;
}

/** A query term in one source; null if absent. */
export interface TermInView {
  list(chunk: number): TermList | null | undefined;
}

/** A query term in all sources. */
export interface ResolvedTerm {
  readonly term: QueryTerm;
  /** Live documents that contain it. */
  readonly documents: number;
  readonly inViews: readonly (TermInView | null)[];
}

/** Undefined if a blob is missing; all were requested. */
export function resolveMessageTerm(
  views: readonly View[],
  term: QueryTerm,
  field: MessageField = "message",
): ResolvedTerm | undefined {
  let documents: number | undefined = 0;
  const inViews: (TermInView | null | undefined)[] = [];
  for (const view of views) {
    const found = findInView(view, field, term.terms);
    inViews.push(found);
    const count = found === undefined ? undefined : countLive(view, found);
    documents = count === undefined || documents === undefined ? undefined : documents + count;
  }
  if (documents === undefined) return undefined;
  return { term, documents, inViews: inViews as (TermInView | null)[] };
}

export function findInView(
  view: View,
  field: Field,
  terms: readonly string[],
): (TermInView & { readonly only?: FoundTerm }) | null | undefined {
  const found = terms.map((term) => view.source.findTerm(field, term));
  if (found.includes(undefined)) return undefined;
  const present = found.filter((each) => each !== null && each !== undefined);
  const [only] = present;
  if (only === undefined) return null;
  if (present.length === 1) return { only, list: remembered((chunk) => only.list(chunk)) };
  return { list: remembered((chunk) => joinLists(present.map((each) => each.list(chunk)))) };
}

/** Caches a list, which a search reads several times. */
function remembered(read: TermInView["list"]): TermInView["list"] {
  const known = new Map<number, TermList | null>();
  return (chunk) => {
    const list = known.get(chunk);
    if (list !== undefined) return list;
    const made = read(chunk);
    if (made !== undefined) known.set(chunk, made);
    return made;
  };
}

function countLive(
  view: View,
  found: (TermInView & { readonly only?: FoundTerm }) | null,
): number | undefined {
  if (found === null) return 0;
  const mask = view.live.messages;
  if (mask === null && found.only !== undefined) return found.only.documents;
  let count = 0;
  for (let chunk = 0; chunk * CHUNK_DOCUMENTS < view.source.slots; chunk++) {
    const list = found.list(chunk);
    if (list === undefined) return undefined;
    if (list === null) continue;
    if (mask === null) {
      count += list.count;
      continue;
    }
    const base = chunk * CHUNK_DOCUMENTS;
    const documents = documentsOf(list);
    for (let i = 0; i < list.count; i++) {
      if (mask[base + (documents[i] as number)] !== 0) count++;
    }
  }
  return count;
}

/** Summed frequencies of a chunk's documents; zeros between calls. */
const sums = new Uint8Array(CHUNK_DOCUMENTS);

/** The union of the lists, with summed frequencies. */
export function joinLists(
  lists: readonly (TermList | null | undefined)[],
): TermList | null | undefined {
  if (lists.includes(undefined)) return undefined;
  const present = lists.filter((list) => list !== null && list !== undefined);
  const [only] = present;
  if (only === undefined || present.length === 1) return only ?? null;
  // Search-as-you-type merges up to hundreds of lists per keystroke: plain loops, no garbage.
  let size = 0;
  for (const list of present) {
    const documents = documentsOf(list);
    for (let i = 0; i < list.count; i++) {
      const document = documents[i] as number;
      const before = sums[document] as number;
      const sum = Math.min(before + countAt(list, i), MAX_TERM_COUNT);
      if (before === 0 && sum > 0) size++;
      sums[document] = sum;
    }
  }
  const documents = new Uint16Array(size);
  const counts = new Uint8Array(size);
  for (let document = 0, place = 0; place < size; document++) {
    const sum = sums[document] as number;
    if (sum === 0) continue;
    documents[place] = document;
    counts[place] = sum;
    sums[document] = 0;
    place++;
  }
  return {
    count: size,
    documents,
    dense: undefined,
    ...packCounts(counts, 0, size),
    windows: windowStarts(documents),
    bounds: undefined,
  };
}
