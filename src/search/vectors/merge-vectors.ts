/** Merges segments of vectors, without vectors of deleted and erased text. */

import type { Gone } from "../index/liveness.ts";
import type { SansIo } from "../port.ts";
import type { Quantized } from "./quantize.ts";
import { readValues } from "./read-values.ts";
import { type ResidentSegment, VectorCache } from "./vector-cache.ts";
import { SLAB } from "./vector-layout.ts";
import { isGone, type VectorGone } from "./vector-liveness.ts";
import type { PieceInfo, VectorSegmentInfo } from "./vector-port.ts";
import { VectorWriter } from "./vector-writer.ts";

/** Vectors whose values are in memory at a time. */
const BATCH = 2_048;

interface Row {
  readonly segment: number;
  /** The position of the segment among the merged ones: of a note's versions the last one stays. */
  readonly order: number;
  readonly vector: number;
  readonly piece: PieceInfo;
  readonly scale: (values: Int8Array) => number;
}

/** Vectors of notes that are not `isCurrent` are left out. */
export function* mergeVectors(
  infos: readonly VectorSegmentInfo[],
  segment: number,
  dimensions: number,
  gone: Gone,
  isCurrent: (key: string) => boolean,
): SansIo<{ readonly documents: number; readonly bytes: number }> {
  const cache = new VectorCache();
  const writer = new VectorWriter(segment, dimensions);
  const opened = yield* cache.open(infos);
  const rows = liveRows(opened, cache, gone, isCurrent);
  for (let at = 0; at < rows.length; at += BATCH) {
    const some = rows.slice(at, at + BATCH);
    const found = new Map<Row, Quantized>();
    yield* readValues(some, dimensions, (row, values) => {
      found.set(row, { values: values.slice(), scale: row.scale(values) });
    });
    for (const row of some) yield* writer.add(row.piece, found.get(row) as Quantized);
  }
  return yield* writer.finish();
}

function liveRows(
  segments: readonly ResidentSegment[],
  cache: VectorCache,
  gone: Gone,
  isCurrent: (key: string) => boolean,
): Row[] {
  const messages: Row[] = [];
  const notes = new Map<string, Row>();
  const test: VectorGone = isGone(gone);
  for (const [order, { segment, slabs, keys, count, notes: noteCount }] of segments.entries()) {
    let vector = 0;
    for (const { columns, at, codes } of slabs) {
      const factors = cache.memory.floats(at + codes, columns.count).slice();
      for (let i = 0; i < columns.count; i++, vector++) {
        const key = keys[vector - (count - noteCount)] ?? null;
        if (test(columns, i) || (key !== null && !isCurrent(key))) continue;
        const piece = pieceOf(columns, i, key);
        const factor = factors[i] as number;
        const row = { segment, order, vector, piece, scale: scaleOf(factor) };
        if (key === null) messages.push(row);
        else notes.set(`${piece.role} ${key}`, row);
      }
    }
    if (vector !== count || slabs.length !== Math.ceil(count / SLAB)) {
      throw new Error(`segment ${segment} of vectors has ${vector} of ${count}`);
    }
  }
  messages.sort(
    (a, b) =>
      a.piece.session - b.piece.session ||
      a.piece.sequence - b.piece.sequence ||
      a.order - b.order ||
      a.vector - b.vector,
  );
  const byKey = (a: Row, b: Row) =>
    a.piece.role - b.piece.role || ((a.piece.key ?? "") < (b.piece.key ?? "") ? -1 : 1);
  return [...messages, ...[...notes.values()].sort(byKey)];
}

function pieceOf(
  { sessions, sequences, spans, roles, seconds }: ResidentSegment["slabs"][number]["columns"],
  i: number,
  key: string | null,
): PieceInfo {
  const sequence = sequences[i] as number;
  return {
    session: sessions[i] as number,
    sequence,
    last: sequence + (spans[i] as number),
    role: roles[i] as number,
    time: (seconds[i] as number) * 1_000,
    key,
  };
}

/** The factor is 1 / (scale * sum of absolute values): see `writeCode`. */
export function scaleOf(factor: number): (values: Int8Array) => number {
  return (values) => {
    let sum = 0;
    for (const value of values) sum += Math.abs(value);
    return 1 / (factor * sum);
  };
}
