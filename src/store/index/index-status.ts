/** Progress and size of a tenant's index. */

import type { INDEX_STATUS, VECTOR_STATUS } from "../../model/answers/store.ts";
import type { FieldsOf } from "../../model/shape.ts";
import type { Manifest, SegmentInfo } from "../../search/port.ts";
import type { VectorIndex } from "../../search/vectors/vector-port.ts";

export interface IndexStatus extends FieldsOf<typeof INDEX_STATUS> {}

export interface VectorStatus extends FieldsOf<typeof VECTOR_STATUS> {}

function toVectorStatus(vectors: VectorIndex | undefined, head: number): VectorStatus | null {
  if (vectors === undefined) return null;
  const { embedder, dimensions, through, gaps, segments } = vectors;
  return {
    embedder,
    dimensions,
    through,
    lag: Math.max(0, head - through),
    gaps,
    vectors: segments.reduce((total, { documents }) => total + documents, 0),
    segments: segments.length,
    bytes: segments.reduce((total, { bytes }) => total + bytes, 0),
  };
}

function nameOfVersion({ analyzer, selection }: SegmentInfo): string {
  return selection === undefined ? analyzer : `${analyzer}/${selection}`;
}

export function toIndexStatus(
  manifest: Manifest,
  head: number,
  holder: string | null,
): IndexStatus {
  const { version, through, segments, dead, vectors } = manifest;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    version,
    through,
    head,
    lag: Math.max(0, head - through),
    segments: segments.length,
    documents: sum(segments.map(({ documents }) => documents)),
    bytes: sum(segments.map(({ bytes }) => bytes)),
    positionBytes: sum(segments.map(({ positionBytes }) => positionBytes)),
    dead: dead.length,
    analyzers: [...new Set(segments.map(nameOfVersion))].sort(),
    vectors: toVectorStatus(vectors, head),
    holder,
  };
}
