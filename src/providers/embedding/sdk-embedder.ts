/**
 * Embedding models of the AI SDK, called without loading the SDK: the model object has the method.
 */

import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder, Vector } from "../../model/models.ts";
import { requireAllowed } from "../../policy.ts";
import { type EmbedderOptions, retryingEmbedder } from "./ask-embedder.ts";

/** An embedding model of the AI SDK: version 2, 3 or 4 of its specification. */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doEmbed(options: never): unknown;
}

/** The input and output of `doEmbed` in each version. */
type DoEmbed = (options: {
  readonly values: string[];
  readonly abortSignal: AbortSignal;
}) => PromiseLike<{
  readonly embeddings: readonly Vector[];
  readonly usage?: { readonly tokens: number };
}>;

export function embeddingModel(
  model: AiSdkEmbeddingModel,
  options: EmbedderOptions = {},
): Embedder {
  checkFields(options, "options", INPUTS.embeddingModel);
  // The model hides its address, so it counts as remote.
  requireAllowed("remoteEmbedders");
  const doEmbed = model.doEmbed.bind(model) as unknown as DoEmbed;
  return retryingEmbedder(options.name ?? model.modelId, options, async (texts, abortSignal) => {
    const { embeddings, usage } = await doEmbed({ values: [...texts], abortSignal });
    return { vectors: embeddings, tokens: usage?.tokens ?? 0 };
  });
}

export function isAiSdkEmbeddingModel(value: unknown): value is AiSdkEmbeddingModel {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, modelId, doEmbed } = value as Partial<AiSdkEmbeddingModel>;
  return (
    typeof specificationVersion === "string" &&
    typeof modelId === "string" &&
    typeof doEmbed === "function"
  );
}
