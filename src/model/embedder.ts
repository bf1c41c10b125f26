/**
 * Ports for meaning: who turns text into vectors, and who keeps them.
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

/** What is to be forgotten: one entry, one fact, or a whole session with all its entries and facts. */
export type VectorTarget =
  | { readonly tenant: string; readonly sessionId: string; readonly entryId: string }
  | { readonly tenant: string; readonly sessionId: string; readonly factId: string }
  | { readonly tenant: string; readonly sessionId: string };

/** Both calls may be repeated: what is there is replaced, what is not there is no failure to delete. */
export interface VectorStore {
  put(vectors: readonly StoredVector[], signal?: AbortSignal): Promise<void>;
  delete(target: VectorTarget, signal?: AbortSignal): Promise<void>;
}
