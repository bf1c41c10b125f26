/** Liveness of vectors: excludes those of deleted sessions and erased messages. */

import type { Gone } from "../index/liveness.ts";
import type { VectorColumns } from "./vector-columns.ts";
import type { PieceInfo } from "./vector-port.ts";

export type VectorGone = (columns: VectorColumns, i: number) => boolean;

/** A vector of several messages is gone once one of them is: it encodes words of all of them. */
export function isGone({ sessions: dead, erased }: Gone): VectorGone {
  const ranges = Map.groupBy(erased, ({ session }) => session);
  if (dead.size === 0 && ranges.size === 0) return () => false;
  return ({ sessions, sequences, spans }, i) => {
    const session = sessions[i] as number;
    if (dead.has(session)) return true;
    const own = ranges.get(session);
    if (own === undefined) return false;
    const sequence = sequences[i] as number;
    return touches(own, sequence, sequence + (spans[i] as number));
  };
}

/** As `isGone`, for a piece before it is written. */
export function isPieceGone(gone: Gone, { session, sequence, last }: PieceInfo): boolean {
  if (gone.sessions.has(session)) return true;
  return touches(
    gone.erased.filter((each) => each.session === session),
    sequence,
    last,
  );
}

/** Facts have a session and no sequence: only the deletion of the session removes them. */
function touches(ranges: Gone["erased"], first: number, last: number): boolean {
  return first > 0 && ranges.some(({ from, to }) => from <= last && first <= to);
}
