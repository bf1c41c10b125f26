/** Ranks memories and facts by words and vectors: see `rank-by-meaning.ts`. */

import type { Blobs } from "./index/blobs.ts";
import type { NoteField } from "./index/layout.ts";
import type { SansIo } from "./port.ts";
import type { NoteSearchRequest } from "./request.ts";
import type { TenantCache } from "./search-cache.ts";
import type { Snapshot } from "./snapshot.ts";
import { findNearest, type Near } from "./vectors/nearest.ts";
import { NOTE_ROLES } from "./vectors/vector-layout.ts";
import { isGone } from "./vectors/vector-liveness.ts";

export interface FoundNote {
  readonly key: string;
  readonly score: number;
}

/** `byWords` are all notes with a query word. */
export function* notesByMeaning(
  { field, meaning }: NoteSearchRequest,
  byWords: readonly FoundNote[],
  inScope: ReadonlySet<number> | undefined,
  snapshot: Snapshot,
  cache: TenantCache,
  blobs: Blobs,
): SansIo<readonly FoundNote[]> {
  const { vectors } = snapshot;
  if (meaning === undefined || vectors?.embedder !== meaning.embedder) return byWords;
  if (vectors.dimensions !== meaning.vector.length) return byWords;
  const live = yield* blobs.complete(() => liveKeys(snapshot, field));
  const isDead = isGone(snapshot.gone);
  const opened = yield* cache.vectors.open(vectors.segments);
  let near: Near[];
  try {
    const query = {
      vector: meaning.vector,
      accepts: (columns: Parameters<typeof isDead>[0], i: number) =>
        columns.roles[i] === NOTE_ROLES[field] &&
        (inScope?.has(columns.sessions[i] as number) ?? true) &&
        !isDead(columns, i),
    };
    near = yield* findNearest(query, opened, cache.vectors);
  } finally {
    cache.vectors.release(opened);
  }
  const best = byWords.reduce((most, { score }) => Math.max(most, score), 0) || 1;
  const scores = new Map(byWords.map(({ key, score }) => [key, score]));
  for (const { key, similarity } of newestOf(near, vectors.segments)) {
    if (key === null || live?.has(key) !== true) continue;
    const own = scores.get(key);
    if (own === undefined && similarity < meaning.floor) continue;
    const points = meaning.weight * best * Math.max(0, similarity);
    scores.set(key, (own ?? 0) + points);
  }
  return [...scores].map(([key, score]) => ({ key, score }));
}

/** A changed note has a vector in each segment with one of its versions. */
function newestOf(
  near: readonly Near[],
  segments: readonly { readonly segment: number }[],
): Iterable<Near> {
  const order = new Map(segments.map(({ segment }, i) => [segment, i]));
  const newest = new Map<string | null, Near>();
  for (const each of near) {
    const known = newest.get(each.key);
    const isNewer = (order.get(each.segment) ?? 0) > (order.get(known?.segment ?? -1) ?? -1);
    if (known === undefined || isNewer) newest.set(each.key, each);
  }
  return newest.values();
}

/** Undefined if a blob is missing. */
function liveKeys({ views }: Snapshot, field: NoteField): ReadonlySet<string> | undefined {
  const keys = new Set<string>();
  let isComplete = true;
  for (const { source, live } of views) {
    const own = source.noteKeys(field);
    const lengths = source.lengths(field);
    if (own === undefined || lengths === undefined) isComplete = false;
    for (const [i, key] of (own ?? []).entries()) {
      if (live.notes[field][i] === 1 && (lengths?.[i] ?? 0) > 0) keys.add(key);
    }
  }
  return isComplete ? keys : undefined;
}
