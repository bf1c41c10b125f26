/** Metadata of vectors outside of their segments, and the tasks of their maintenance. */

/** An immutable segment of vectors: the pieces of the feed's changes in `(from, to]`. */
export interface VectorSegmentInfo {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  /** Deletions and erasures up to this position of the feed are applied. */
  readonly builtAt: number;
  /** The number of its vectors. */
  readonly documents: number;
  readonly bytes: number;
}

/** A range `(from, to]` of the feed. */
export interface FeedRange {
  readonly from: number;
  readonly to: number;
}

/** The vectors of one tenant. */
export interface VectorIndex {
  /** The embedder's name: vectors of different embedders cannot be compared. */
  readonly embedder: string;
  readonly dimensions: number;
  /** The feed is embedded up to this position, except for the gaps. */
  readonly through: number;
  /**
   * Ranges without vectors, ascending: older than the embedder, or lost. Filled only on request.
   */
  readonly gaps: readonly FeedRange[];
  /** In the order of the feed. */
  readonly segments: readonly VectorSegmentInfo[];
}

/** Starts the vectors of an embedder, and drops those of another. */
export interface StartVectorsTask {
  readonly startVectors: Pick<VectorIndex, "embedder" | "dimensions" | "through">;
}

/** Adds a segment of vectors if it continues the current state. */
export interface AddVectorsTask {
  readonly addVectors: VectorBatch;
}

/** The subject of a vector: part of a message or of consecutive messages, or a note. */
export interface PieceInfo {
  /** 0 for a memory. */
  readonly session: number;
  /** The first message; 0 for a note. */
  readonly sequence: number;
  /** The last message. */
  readonly last: number;
  /** An index into `ROLES`, or one of `NOTE_ROLES`. */
  readonly role: number;
  /** The time of the first message. */
  readonly time: number;
  /** The key of a memory or a fact; null for messages. */
  readonly key: string | null;
}

export interface VectorBatch {
  readonly embedder: string;
  /** Equals `through`, or the start of a gap. */
  readonly from: number;
  readonly to: number;
  /** The end of the feed when the texts were read. */
  readonly builtAt: number;
  readonly pieces: readonly PieceInfo[];
  /** The vectors of the pieces, of length 1, concatenated. */
  readonly values: Float32Array;
}
