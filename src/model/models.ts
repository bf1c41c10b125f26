/**
 * Ports of models and of semantic search: an embedder makes vectors of texts, a vector store keeps
 * them, a language model answers a prompt.
 */

export type Vector = readonly number[] | Float32Array;

export interface Embedder {
  /** Recorded with vectors: vectors of different embedders cannot be compared. */
  readonly name: string;
  /** Default: the first vector's. */
  readonly dimensions?: number;
  /** A vector per text, in order. Throws on failure. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Vector[]>;
  /** Usage so far, if the embedder counts it. */
  readonly use?: EmbedderUse;
  /** Releases resources, such as a thread. */
  close?(): Promise<void>;
}

/** Counters of one embedder since its creation. */
export interface EmbedderUse {
  /** Successful calls. */
  readonly calls: number;
  readonly texts: number;
  /** Tokens as the provider counted them. */
  readonly tokens: number;
  /** Retried calls. */
  readonly retries: number;
}

/** The source of a vector, always with tenant and session, which recall must never cross. */
export interface StoredVector {
  readonly tenant: string;
  readonly sessionId: string;
  readonly kind: "message" | "fact";
  /** The id of the entry or fact. */
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

/** The port of a language model: text in, text out. */

export interface TextRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

export interface TextAnswer {
  readonly text: string;
  /** The AI SDK's reason: `stop`, `length`, `content-filter`, `error` … */
  readonly finishReason: string;
}

/** Throws if there is no answer, possibly after retries. */
export interface TextModel {
  /** Recorded as the writer of a summary. */
  readonly name: string;
  /** Its input limit in tokens. Default: 100,000. */
  readonly maxInputTokens?: number;
  generate(request: TextRequest): Promise<TextAnswer>;
}
