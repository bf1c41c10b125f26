/** The public names of `backscroll/models`: models and embedders, given or written by the host. */

export type {
  Summarizer,
  SummaryAnswer,
  SummaryRequest,
  SummaryStructure,
} from "./compaction/summary.ts";
export {
  type EmbeddingProgress,
  type FollowEmbeddingsInput,
  followEmbeddings,
  type RetryOptions,
} from "./engine/embeddings/follow-embeddings.ts";
export type {
  FactAnswer,
  FactExtractor,
  FactRequest,
  ProposedFact,
} from "./facts/fact-extractor.ts";
export type {
  Embedder,
  EmbedderUse,
  StoredVector,
  TextAnswer,
  TextModel,
  TextRequest,
  Vector,
  VectorStore,
  VectorTarget,
} from "./model/models.ts";
export { LIST_PRICES, type ModelPrice, type PriceTable } from "./model/prices.ts";
export type { LanguageModelOptions } from "./providers/call-options.ts";
export {
  type CompatibleEmbedderOptions,
  compatibleEmbedder,
  type EmbedderOptions,
} from "./providers/embedding/compatible-embedder.ts";
export { type LocalEmbedderOptions, localEmbedder } from "./providers/embedding/local-embedder.ts";
export { type AiSdkEmbeddingModel, embeddingModel } from "./providers/embedding/to-embedder.ts";
export {
  type AiSdkModel,
  type CompatibleModelOptions,
  compatibleModel,
  type FullModel,
  languageModel,
} from "./providers/language-model.ts";
