/** The messages of a chunk whose sessions are in scope. */

import { CHUNK_WINDOWS, WINDOW_DOCUMENTS } from "../../index/layout.ts";
import { BitSet } from "../../index/lists/bit-set.ts";
import { lowerBound } from "../../index/lists/term-list.ts";
import type { ChunkColumns } from "../../index/message-columns.ts";

/** A session is one range of a chunk, so a scope is a few ranges in each window. */
export class OpenDocuments {
  readonly #documents: BitSet;
  /** The ranges of each window, start and end (exclusive) alternating, ascending. */
  readonly #windows: readonly Uint32Array[];

  constructor({ sessions, count }: ChunkColumns, scope: Uint32Array) {
    this.#documents = new BitSet(count);
    const windows: number[][] = Array.from({ length: CHUNK_WINDOWS }, () => []);
    for (let i = 0; i < count; ) {
      const session = sessions[i] as number;
      let end = i + 1;
      while (end < count && sessions[end] === session) end++;
      const at = lowerBound(scope, session, 0, scope.length);
      if (scope[at] === session) {
        this.#documents.addRange(i, end);
        addRange(windows, i, end);
      }
      i = end;
    }
    this.#windows = windows.map((ranges) => Uint32Array.from(ranges));
  }

  has(document: number): boolean {
    return this.#documents.has(document);
  }

  rangesOf(window: number): Uint32Array {
    return this.#windows[window] as Uint32Array;
  }
}

/** Splits at window ends, and joins adjacent ranges. */
function addRange(windows: readonly number[][], from: number, end: number): void {
  for (let first = from; first < end; ) {
    const window = Math.floor(first / WINDOW_DOCUMENTS);
    const to = Math.min(end, (window + 1) * WINDOW_DOCUMENTS);
    const ranges = windows[window] as number[];
    if (ranges.at(-1) === first) ranges[ranges.length - 1] = to;
    else ranges.push(first, to);
    first = to;
  }
}

/** By scope and chunk, which are cached between searches, and this with them. */
const known = new WeakMap<Uint32Array, WeakMap<Uint32Array, OpenDocuments>>();

export function openDocuments(columns: ChunkColumns, scope: Uint32Array): OpenDocuments {
  let chunks = known.get(scope);
  if (chunks === undefined) {
    chunks = new WeakMap();
    known.set(scope, chunks);
  }
  const before = chunks.get(columns.sessions);
  if (before !== undefined) return before;
  const made = new OpenDocuments(columns, scope);
  chunks.set(columns.sessions, made);
  return made;
}
