/** References to a session other than its id. */

import type { Row } from "../records.ts";

export interface SessionRef {
  readonly id: string;
  readonly shortId: string;
  /** The agent's own id; null for a session that was written here. */
  readonly ownId: string | null;
  readonly title: string;
}

/** Fewer characters are no beginning of an id. */
export const MIN_REF_PREFIX = 4;

/** How many sessions are given that a beginning fits. */
export const MAX_REFS = 10;

export const REF_COLUMNS = "s.id, s.short_id, s.own_id, s.title";

export function toSessionRef(row: Row): SessionRef {
  return {
    id: String(row["id"]),
    shortId: String(row["short_id"] ?? row["id"]),
    ownId: row["own_id"] as string | null,
    title: String(row["title"] ?? ""),
  };
}

/**
 * The values of a lookup: the text itself, and the range of what begins with it. An empty range
 * where the text is too short for a beginning.
 */
export function refRange(ref: string): readonly [ref: string, from: string, end: string] {
  if (ref.length < MIN_REF_PREFIX) return [ref, "", ""];
  return [ref, ref, `${ref}\u{10FFFF}`];
}

/** Those of `refs` that have `ref` for an id: a short id comes before an agent's own. */
export function namedRefs(refs: readonly SessionRef[], ref: string): readonly SessionRef[] {
  const short = refs.filter(({ id, shortId }) => id === ref || shortId === ref);
  return short.length > 0 ? short : refs.filter(({ ownId }) => ownId === ref);
}
