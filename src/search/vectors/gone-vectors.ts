/** Which vectors stand for something that was deleted or erased. */

import type { Gone } from "../index/liveness.ts";
import type { VectorColumns } from "./vector-columns.ts";
import type { PieceInfo } from "./vector-port.ts";

export type VectorGone = (columns: VectorColumns, i: number) => boolean;

/** A vector of several messages is gone as soon as one of them is: it has words of all of them. */
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

/** The same before it is written. */
export function isPieceGone(gone: Gone, { session, sequence, last }: PieceInfo): boolean {
  if (gone.sessions.has(session)) return true;
  return touches(
    gone.erased.filter((each) => each.session === session),
    sequence,
    last,
  );
}

/** Facts have a session and no sequence: they go with their session. */
function touches(ranges: Gone["erased"], first: number, last: number): boolean {
  return first > 0 && ranges.some(({ from, to }) => from <= last && first <= to);
}
