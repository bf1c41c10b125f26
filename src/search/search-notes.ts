/** Search over memories and facts: short texts, returned whole. */

import { Blobs } from "./index/blobs.ts";
import { notesByMeaning } from "./notes-by-meaning.ts";
import { ask, type SansIo } from "./port.ts";
import { analyzeQuery } from "./query/analyze-query.ts";
import { parseQuery } from "./query/parse-query.ts";
import type { NoteSearchAnswer, NoteSearchRequest } from "./request.ts";
import { BM25 } from "./score/bm25.ts";
import { MAX_EXPANSIONS } from "./score/filter/conditions.ts";
import { scoreKeyed } from "./score/keyed-scores.ts";
import type { QueryTerm } from "./score/query-terms.ts";
import type { TenantCache } from "./search-cache.ts";
import { readSnapshot, type View, withoutUnreadable } from "./snapshot.ts";

export function* searchNotes(
  request: NoteSearchRequest,
  cache: TenantCache,
): SansIo<NoteSearchAnswer> {
  return yield* withoutUnreadable(function* (unreadable) {
    const blobs = new Blobs(cache.cache);
    try {
      return yield* searchOnce(request, cache, blobs, unreadable);
    } finally {
      blobs.close();
    }
  });
}

function* searchOnce(
  request: NoteSearchRequest,
  cache: TenantCache,
  blobs: Blobs,
  unreadable: ReadonlySet<number>,
): SansIo<NoteSearchAnswer> {
  const { field, query, now, limit, keyPrefix, excludedPrefix, scope } = request;
  const snapshot = yield* readSnapshot(cache, blobs, unreadable);
  const { views, indexing } = snapshot;
  const parsed = analyzeQuery(parseQuery(query, { now }), cache.indexing.language);
  const terms: QueryTerm[] = parsed.scored.map(({ term, weight }) => ({
    label: term,
    terms: [term],
    weight,
  }));
  for (const prefix of parsed.prefixes) {
    const lists = yield* blobs.complete(() =>
      views.map(({ source }) => source.termsWithPrefix(field, prefix, MAX_EXPANSIONS)),
    );
    const expanded = [...new Set(lists.flatMap((list) => list ?? []))].sort();
    terms.push({ label: `${prefix}*`, terms: expanded.slice(0, MAX_EXPANSIONS), weight: 1 });
  }
  const inScope = scope && new Set(yield* ask<"scope">({ need: "scope", scope }));
  const sessions =
    inScope && (yield* blobs.complete(() => views.map(({ source }) => source.factSessions())));
  const scores = (yield* blobs.complete(() => scoreKeyed(views, field, terms, BM25))) ?? [];
  const byWords = scores.flatMap((own, i) => {
    const keys = (views[i] as View).source.noteKeys(field) ?? [];
    return [...own]
      .filter(([document]) => inScope?.has(sessions?.[i]?.[document] ?? 0) ?? true)
      .map(([document, score]) => ({ key: keys[document] as string, score }));
  });
  const notes = yield* notesByMeaning(request, byWords, inScope, snapshot, cache, blobs);
  return {
    notes: notes
      .filter(({ key }) => key.startsWith(keyPrefix))
      .filter(({ key }) => excludedPrefix === undefined || !key.startsWith(excludedPrefix))
      .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
      .slice(0, limit),
    indexing,
    degraded: unreadable.size > 0,
    unreadable: [...unreadable],
  };
}
