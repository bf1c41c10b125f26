/**
 * Ports of embedders and vector stores.
 *
 * Backscroll has neither. A host plugs in both, and a follower of the change feed keeps them up to date;
 * an append never waits for it and never fails because of it.
 */

export type Vector = readonly number[] | Float32Array;

export interface Embedder {
  /** For the record: vectors of two embedders cannot be compared. */
  readonly name: string;
  readonly dimensions: number;
  /** A vector for each text, in order. Throws when there is none to be had; it is asked again. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Vector[]>;
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
