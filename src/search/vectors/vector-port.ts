/** Metadata of vectors outside of their segments, and the tasks of their maintenance. */

/** An immutable segment of vectors: of what the feed told of in `(from, to]`. */
export interface VectorSegmentInfo {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  /** Deletions and erasures up to this position of the feed are applied. */
  readonly builtAt: number;
  /** Its vectors. */
  readonly documents: number;
  readonly bytes: number;
}

/** A stretch `(from, to]` of the feed. */
export interface FeedRange {
  readonly from: number;
  readonly to: number;
}

/** The vectors of one tenant. */
export interface VectorIndex {
  /** The embedder's name: vectors of two cannot be compared. */
  readonly embedder: string;
  readonly dimensions: number;
  /** The feed is embedded up to here, but for the gaps. */
  readonly through: number;
  /** Ranges from before the embedder, or lost ones, in order. Filled only on request. */
  readonly gaps: readonly FeedRange[];
  /** In the order of the feed. */
  readonly segments: readonly VectorSegmentInfo[];
}

/** Begins with the vectors of an embedder, without those of another one before it. */
export interface StartVectorsTask {
  readonly startVectors: Pick<VectorIndex, "embedder" | "dimensions" | "through">;
}

/** Adds a segment of vectors, if it continues what is there. */
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
  /** When the first message was said. */
  readonly time: number;
  /** The key of a memory or a fact; null of messages. */
  readonly key: string | null;
}

export interface VectorBatch {
  readonly embedder: string;
  /** Where `through` is, or a gap begins. */
  readonly from: number;
  readonly to: number;
  /** The end of the feed when the texts were read. */
  readonly builtAt: number;
  readonly pieces: readonly PieceInfo[];
  /** The vectors of the pieces, of length 1, one after the other. */
  readonly values: Float32Array;
}
