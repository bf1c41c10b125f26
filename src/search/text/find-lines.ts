/**
 * Finds the messages that added or removed lines, changed files or made commits, by the terms of
 * `blame/lines`. The matching of lines to sessions is left to the caller.
 */

import { type LineKind, lineTerm } from "../../blame/lines/line-terms.ts";
import { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { documentsOf, type TermList } from "../index/lists/term-list.ts";
import { ask, type SansIo } from "../port.ts";
import type { FoundLines, LinesRequest } from "../request.ts";
import type { TenantCache } from "../search-cache.ts";
import { readSnapshot, type View, withoutUnreadable } from "../snapshot.ts";

/** A line that more messages have says nothing of who wrote it; a file may be changed so often. */
const MAX_MESSAGES = 200;
const MAX_OF_FILE = 20_000;

export function findLines(request: LinesRequest, cache: TenantCache): SansIo<FoundLines> {
  return withoutUnreadable((unreadable) => findIn(request, cache, unreadable));
}

function* findIn(
  { lines, scope, places }: LinesRequest,
  cache: TenantCache,
  unreadable: ReadonlySet<number>,
): SansIo<FoundLines> {
  const blobs = new Blobs(cache.cache);
  const found = new Found();
  let indexing = cache.indexing.tools !== "all" || unreadable.size > 0;
  const isAll = Object.keys(scope).length === 0;
  try {
    const { views, indexing: isOld } = yield* readSnapshot(cache, blobs, unreadable);
    indexing ||= isOld;
    const inScope = isAll ? undefined : yield* ask<"scope">({ need: "scope", scope });
    const sessions = inScope && new Set(inScope);
    const terms = lines.map(({ kind, text }) => lineTerm(kind, text, cache.indexing.lineKey ?? ""));
    const documents = yield* blobs.complete(() =>
      views.map((view) =>
        terms.map((term, i) => documentsWith(view, term, lines[i]?.kind as LineKind)),
      ),
    );
    const rare = lines.map(({ kind }, i) => {
      const count = documents.reduce((total, each) => total + (each?.[i]?.count ?? 0), 0);
      return count <= mostOf(kind);
    });
    // Of files, only those messages count that have one of the lines.
    const isLine = (i: number) => lines[i]?.kind !== "file" && rare[i] === true;
    for (const [v, view] of views.entries()) {
      const wanted = new Set(
        documents[v]?.flatMap((each, i) => (isLine(i) ? (each?.documents ?? []) : [])),
      );
      const ids = yield* blobs.complete(() => found.read(view, wanted, sessions));
      for (const [i, each] of (documents[v] ?? []).entries()) {
        if (rare[i]) found.add(i, each?.documents ?? [], ids);
      }
    }
  } finally {
    blobs.close();
  }
  const { edits, numbers } = found;
  const ids = yield* namesOf(numbers);
  const shown = yield* ask<"windows">({
    need: "windows",
    windows: (places ?? []).map((each) => ({ ...each, before: 0, after: 0 })),
  });
  return {
    sessions: ids,
    edits,
    found: lines.map((_, i) => found.ofLine(i)),
    shown: shown.map((window, i) => {
      const entry = window?.entries.find(({ sequence }) => sequence === places?.[i]?.sequence);
      return entry === undefined ? null : { id: entry.id, index: entry.index };
    }),
    indexing,
    unreadable: [...unreadable],
  };
}

function mostOf(kind: LineKind): number {
  return kind === "file" ? MAX_OF_FILE : MAX_MESSAGES;
}

interface Postings {
  /** Dead ones included. */
  readonly count: number;
  /** Live ones; none if there are too many. */
  readonly documents: readonly number[];
}

/** Undefined if a blob is missing. */
function documentsWith(
  { source, live }: View,
  term: string | undefined,
  kind: LineKind,
): Postings | undefined {
  const entry = term === undefined ? null : source.findTerm("message", term);
  if (entry === undefined) return undefined;
  const count = entry?.documents ?? 0;
  if (entry === null || count > mostOf(kind)) return { count, documents: [] };
  const documents: number[] = [];
  for (let chunk = 0; chunk * CHUNK_DOCUMENTS < source.slots; chunk++) {
    const list: TermList | null | undefined = entry.list(chunk);
    if (list === undefined) return undefined;
    for (const document of list === null ? [] : documentsOf(list)) {
      const at: number = chunk * CHUNK_DOCUMENTS + document;
      if (live.messages === null || live.messages[at] === 1) documents.push(at);
    }
  }
  return { count, documents };
}

function* namesOf(numbers: readonly number[]): SansIo<readonly (string | null)[]> {
  if (numbers.length === 0) return [];
  const windows = yield* ask<"windows">({
    need: "windows",
    windows: numbers.map((session) => ({ session, sequence: 0, before: 0, after: 0 })),
  });
  return windows.map((window) => window?.head.sessionId ?? null);
}

/** The messages that were found, each once. */
class Found {
  readonly edits: { session: number; place: { session: number; sequence: number }; at: number }[] =
    [];
  /** The numbers of the sessions. */
  readonly numbers: number[] = [];
  readonly #places = new Map<number, number>();
  readonly #lines = new Map<number, number[]>();

  /** The edits of documents; undefined if a blob is missing. */
  read(
    { source }: View,
    documents: ReadonlySet<number>,
    scope: ReadonlySet<number> | undefined,
  ): ReadonlyMap<number, number> | undefined {
    const read = [...documents].map((document) => {
      const columns = source.columns(Math.floor(document / CHUNK_DOCUMENTS));
      const session = columns?.sessions[document % CHUNK_DOCUMENTS];
      return [document, session, source.facts(document)] as const;
    });
    if (read.some(([, session, facts]) => session === undefined || facts === undefined)) {
      return undefined;
    }
    const ids = new Map<number, number>();
    for (const [document, session = 0, facts] of read) {
      if (facts === undefined || scope?.has(session) === false) continue;
      const place = { session, sequence: facts.sequence };
      ids.set(document, this.edits.length);
      this.edits.push({ session: this.#number(session), place, at: facts.time });
    }
    return ids;
  }

  add(
    line: number,
    documents: readonly number[],
    ids: ReadonlyMap<number, number> = new Map(),
  ): void {
    const edits = documents.flatMap((document) => ids.get(document) ?? []);
    this.#lines.set(line, [...(this.#lines.get(line) ?? []), ...edits]);
  }

  ofLine(line: number): readonly number[] {
    return this.#lines.get(line) ?? [];
  }

  #number(session: number): number {
    const known = this.#places.get(session);
    if (known !== undefined) return known;
    this.#places.set(session, this.numbers.length);
    return this.numbers.push(session) - 1;
  }
}
