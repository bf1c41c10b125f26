/** References to a session other than its id. */

import type { Row } from "../records.ts";

export interface SessionRef {
  readonly id: string;
  readonly shortId: string;
  /** The agent's own id; null for a session written through the API. */
  readonly ownId: string | null;
  readonly title: string;
}

/** The minimum length of a prefix. */
export const MIN_REF_PREFIX = 4;

/** The limit of sessions given for a prefix. */
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
 * The values of a look-up: the text, and the range of its prefix. An empty range if the text is too
 * short.
 */
export function refRange(ref: string): readonly [ref: string, from: string, end: string] {
  if (ref.length < MIN_REF_PREFIX) return [ref, "", ""];
  return [ref, ref, `${ref}\u{10FFFF}`];
}

/** The sessions that `ref` names exactly: a short id takes precedence over an agent's own. */
export function namedRefs(refs: readonly SessionRef[], ref: string): readonly SessionRef[] {
  const short = refs.filter(({ id, shortId }) => id === ref || shortId === ref);
  return short.length > 0 ? short : refs.filter(({ ownId }) => ownId === ref);
}
