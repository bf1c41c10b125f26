/** Ports for meaning: an embedder turns text into vectors, a vector store keeps them. */

export type Vector = readonly number[] | Float32Array;

export interface Embedder {
  /** Recorded beside vectors: those of two embedders cannot be compared. */
  readonly name: string;
  /** Left out: as many as the first vector has. */
  readonly dimensions?: number;
  /** A vector for each text, in order. Throws when there is none to be had. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Vector[]>;
  /** What was used so far, where the embedder counts it. */
  readonly use?: EmbedderUse;
  /** Ends what the embedder runs by itself, such as a thread. */
  close?(): Promise<void>;
}

/** Counters of one embedder since it was made. */
export interface EmbedderUse {
  /** Calls that were answered. */
  readonly calls: number;
  readonly texts: number;
  /** Tokens as the provider counted them. */
  readonly tokens: number;
  /** Calls that were made again after a failure. */
  readonly retries: number;
}

/** What a vector stands for. The tenant and the session are always there: recall must never cross them. */
export interface StoredVector {
  readonly tenant: string;
  readonly sessionId: string;
  readonly kind: "message" | "fact";
  /** The id of the entry or of the fact. */
  readonly id: string;
  readonly vector: Vector;
  readonly embedder: string;
}

/** Vectors to delete: of an entry, a fact, or a whole session. */
export type VectorTarget =
  | { readonly tenant: string; readonly sessionId: string; readonly entryId: string }
  | { readonly tenant: string; readonly sessionId: string; readonly factId: string }
  | { readonly tenant: string; readonly sessionId: string };

/** Both calls are idempotent: upsert, and delete if present. */
export interface VectorStore {
  put(vectors: readonly StoredVector[], signal?: AbortSignal): Promise<void>;
  delete(target: VectorTarget, signal?: AbortSignal): Promise<void>;
}
