/** BM25 of keyed documents: a session's title, summary or facts, or a note. */

import { CHUNK_DOCUMENTS, type NoteField, type SessionField } from "../index/layout.ts";
import { countAt } from "../index/lists/packed-counts.ts";
import { documentsOf, type TermList } from "../index/lists/term-list.ts";
import { sum, type View } from "../snapshot.ts";
import { type Bm25, idf, lengthNorm, termGain } from "./bm25.ts";
import { findInView, type QueryTerm } from "./query-terms.ts";

/** Scores by document number, one map for each view. Undefined if a blob is missing. */
export function scoreKeyed(
  views: readonly View[],
  field: SessionField | NoteField,
  terms: readonly QueryTerm[],
  bm25: Bm25,
): Map<number, number>[] | undefined {
  const size = sum(views.map((view) => view.live.sizes[field]));
  const norm = lengthNorm(bm25, size.totalLength / Math.max(1, size.documents));
  const scores = views.map(() => new Map<number, number>());
  let isComplete = true;
  for (const term of terms) {
    const postings = views.map((view) => livePostings(view, field, term));
    if (postings.includes(undefined)) {
      isComplete = false;
      continue;
    }
    const having = postings.reduce((total, list) => total + (list?.documents.length ?? 0), 0);
    if (having === 0) continue;
    const weight = term.weight * idf(size.documents, having);
    for (const [i, list] of postings.entries()) {
      const own = scores[i] as Map<number, number>;
      for (const [j, document] of list?.documents.entries() ?? []) {
        const gain = termGain(norm, list?.counts[j] as number, list?.lengths[j] as number);
        own.set(document, (own.get(document) ?? 0) + weight * gain);
      }
    }
  }
  return isComplete ? scores : undefined;
}

const NONE = new Uint16Array(0);

interface LivePostings {
  readonly documents: number[];
  readonly counts: number[];
  readonly lengths: number[];
}

function livePostings(
  view: View,
  field: SessionField | NoteField,
  term: QueryTerm,
): LivePostings | undefined {
  const found = findInView(view, field, term.terms);
  const lengths = view.source.lengths(field);
  if (found === undefined || lengths === undefined) return undefined;
  const result: LivePostings = { documents: [], counts: [], lengths: [] };
  if (found === null) return result;
  const live = field === "memory" || field === "fact" ? view.live.notes[field] : view.live.sessions;
  for (let base = 0; base < lengths.length; base += CHUNK_DOCUMENTS) {
    const list: TermList | null | undefined = found.list(base / CHUNK_DOCUMENTS);
    if (list === undefined) return undefined;
    const documents: Uint16Array = list === null ? NONE : documentsOf(list);
    for (let i = 0; list !== null && i < list.count; i++) {
      const document = base + (documents[i] as number);
      if (live[document] !== 1) continue;
      result.documents.push(document);
      result.counts.push(countAt(list, i));
      result.lengths.push(lengths[document] as number);
    }
  }
  return result;
}
