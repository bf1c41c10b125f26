/** Accepts the host's forms of an embedder. */

import { BackscrollError } from "../../model/errors.ts";
import type { Embedder } from "../../model/models.ts";
import { type GuardedEmbedder, guardEmbedder } from "./guard-embedder.ts";
import { type AiSdkEmbeddingModel, embeddingModel, isAiSdkEmbeddingModel } from "./sdk-embedder.ts";

export function toEmbedder(given: Embedder | AiSdkEmbeddingModel): GuardedEmbedder {
  if (isAiSdkEmbeddingModel(given)) return guardEmbedder(embeddingModel(given));
  if (typeof given?.embed === "function" && typeof given.name === "string" && given.name !== "") {
    return guardEmbedder(given);
  }
  throw new BackscrollError(
    "invalid_input",
    "embedder must be an embedding model of the AI SDK, or an object with name and embed",
    { details: { field: "embedder" } },
  );
}
