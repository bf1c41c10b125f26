/** The searchable messages of a session and their places, in session order. */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import type { DocumentRange } from "../../index/source.ts";
import type { SessionPath } from "../../port.ts";
import type { View } from "../../snapshot.ts";
import { isOnPath } from "../filter/filter.ts";

/** Adjacent messages of a session in one chunk of one source. */
export interface MessageRun {
  readonly view: number;
  readonly chunk: number;
  /** Documents of the view: `from` to `to` (exclusive). */
  readonly from: number;
  readonly to: number;
  /** The place of each in the session; -1: excluded. */
  readonly places: Int32Array;
}

export interface SessionMessages {
  readonly runs: readonly MessageRun[];
  /** The number of included messages. Their places are 0 to `count` - 1. */
  readonly count: number;
}

/** `path` restricts the session to its active messages. Undefined if a blob is missing. */
export function findMessages(
  views: readonly View[],
  session: number,
  path: SessionPath | undefined,
): SessionMessages | undefined {
  const runs: MessageRun[] = [];
  let isComplete = true;
  let count = 0;
  for (const [number, view] of views.entries()) {
    const ranges = view.source.slotsOf(session);
    if (ranges === undefined) isComplete = false;
    for (const { from, to } of inChunks(ranges ?? [])) {
      const places = new Int32Array(to - from);
      const isWhole = view.live.messages === null && (path?.isWhole ?? true);
      for (let i = 0; isWhole && i < places.length; i++) places[i] = count++;
      for (let document = from; !isWhole && document < to; document++) {
        const counts = countsIn(view, document, path);
        if (counts === undefined) isComplete = false;
        places[document - from] = counts ? count++ : -1;
      }
      runs.push({ view: number, chunk: Math.floor(from / CHUNK_DOCUMENTS), from, to, places });
    }
  }
  if (!isComplete || !putInOrder(views, runs, count)) return undefined;
  return { runs, count };
}

function countsIn(
  { source, live }: View,
  document: number,
  path: SessionPath | undefined,
): boolean | undefined {
  if (live.messages !== null && live.messages[document] === 0) return false;
  if (path === undefined || path.isWhole) return true;
  const facts = source.facts(document);
  return facts && isOnPath(facts, path);
}

/** Joins adjacent ranges, and splits at chunk boundaries. */
function* inChunks(ranges: readonly DocumentRange[]): Generator<DocumentRange> {
  for (let i = 0; i < ranges.length; ) {
    let from = (ranges[i] as DocumentRange).from;
    let end = (ranges[i] as DocumentRange).to;
    for (i++; ranges[i]?.from === end; i++) end = (ranges[i] as DocumentRange).to;
    while (from < end) {
      const to = Math.min(end, (Math.floor(from / CHUNK_DOCUMENTS) + 1) * CHUNK_DOCUMENTS);
      yield { from, to };
      from = to;
    }
  }
}

/**
 * Sources are in feed order, which is nearly always session order: a message that was open for a
 * while is committed after later ones. Only then is everything sorted. False if a blob is missing.
 */
function putInOrder(views: readonly View[], runs: readonly MessageRun[], count: number): boolean {
  if (runs.length < 2) return true;
  const sequenceOf = (run: MessageRun, document: number) =>
    views[run.view]?.source.facts(document)?.sequence;
  const edges = runs.map((run) => [sequenceOf(run, run.from), sequenceOf(run, run.to - 1)]);
  if (edges.flat().includes(undefined)) return false;
  const isInOrder = edges.every(
    ([first], i) => i === 0 || (first as number) > (edges[i - 1]?.[1] as number),
  );
  if (isInOrder) return true;

  const sequences = new Float64Array(count);
  for (const run of runs) {
    for (const [i, place] of run.places.entries()) {
      if (place < 0) continue;
      const sequence = sequenceOf(run, run.from + i);
      if (sequence === undefined) return false;
      sequences[place] = sequence;
    }
  }
  const order = Uint32Array.from(sequences.keys());
  order.sort((a, b) => (sequences[a] as number) - (sequences[b] as number));
  const placeOf = new Int32Array(count);
  for (const [place, before] of order.entries()) placeOf[before] = place;
  for (const { places } of runs) {
    for (const [i, before] of places.entries())
      if (before >= 0) places[i] = placeOf[before] as number;
  }
  return true;
}
