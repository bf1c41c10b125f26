/** Progress and size of a tenant's index. */

import type { Manifest } from "../../search/port.ts";
import type { FeedRange, VectorIndex } from "../../search/vectors/vector-port.ts";

export interface IndexStatus {
  /** The manifest's version. */
  readonly version: number;
  /** The indexed position of the feed, and the feed's end. */
  readonly through: number;
  readonly head: number;
  /** Unindexed changes: a search reads them from the feed. */
  readonly lag: number;
  readonly segments: number;
  readonly documents: number;
  readonly bytes: number;
  /** The part of these bytes that only phrase queries need. */
  readonly positionBytes: number;
  /** Deleted sessions that segments may still hold. */
  readonly dead: number;
  /** The versions of the analyser that built the segments. */
  readonly analyzers: readonly string[];
  /** Progress of vectors; null: the store has none. */
  readonly vectors: VectorStatus | null;
  /** The holder of the index lease. */
  readonly holder: string | null;
  /** The failure of this process's last maintenance step. */
  readonly failure?: string;
}

export interface VectorStatus {
  readonly embedder: string;
  readonly dimensions: number;
  /** The embedded position of the feed. */
  readonly through: number;
  /** Changes after it, which are embedded in the background. */
  readonly lag: number;
  /** Ranges before it, which are embedded only on request. */
  readonly gaps: readonly FeedRange[];
  readonly vectors: number;
  readonly segments: number;
  readonly bytes: number;
}

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
    analyzers: [...new Set(segments.map(({ analyzer }) => analyzer))].sort(),
    vectors: toVectorStatus(vectors, head),
    holder,
  };
}
