/** What a session can be named by, and which of the named sessions was meant. */

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

/** Of the sessions that `ref` fits, those that it fits best: whole ids before beginnings. */
export function bestRefs(refs: readonly SessionRef[], ref: string): readonly SessionRef[] {
  const fits: ((each: SessionRef) => boolean)[] = [
    ({ id }) => id === ref,
    ({ shortId }) => shortId === ref,
    ({ ownId }) => ownId === ref,
  ];
  for (const fit of fits) {
    const found = refs.filter(fit);
    if (found.length > 0) return found;
  }
  // A sub-agent's id is its parent's with a part of its own: the beginning means the parent.
  const isPart = ({ ownId }: SessionRef) =>
    refs.some((other) => other.ownId !== null && ownId?.startsWith(`${other.ownId}/`));
  return refs.filter((each) => !isPart(each));
}
