/** Accepts the host's forms of an embedder. */

import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder, Vector } from "../../model/models.ts";
import { requireAllowed } from "../../policy.ts";
import { redact } from "../../secrets/redact.ts";
import { type EmbedderOptions, retryingEmbedder } from "./compatible-embedder.ts";

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

function isAiSdkEmbeddingModel(value: unknown): value is AiSdkEmbeddingModel {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, modelId, doEmbed } = value as Partial<AiSdkEmbeddingModel>;
  return (
    typeof specificationVersion === "string" &&
    typeof modelId === "string" &&
    typeof doEmbed === "function"
  );
}

// Wraps every embedder of a store: masks secrets, makes batches, checks the vectors and normalises
// them to length 1.

/** Texts and characters per call: within hosted models' limits, and cheap to retry. */
const BATCH_TEXTS = 64;
const BATCH_CHARACTERS = 128 * 1024;

/** Vectors of length 1. */
interface GuardedEmbedder extends Embedder {
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
}

export function guardEmbedder(embedder: Embedder): GuardedEmbedder {
  let dimensions = embedder.dimensions;
  return {
    ...embedder,
    get dimensions(): number | undefined {
      return dimensions;
    },
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const batch of batchesOf(texts.map((text) => redact(text).text))) {
        const found = await embedder.embed(batch, signal);
        if (found.length !== batch.length) {
          throw nonsense(embedder.name, `${found.length} vectors for ${batch.length} texts`);
        }
        for (const vector of found) {
          dimensions ??= vector.length;
          vectors.push(unitVector(vector, dimensions, embedder.name));
        }
      }
      return vectors;
    },
  } as GuardedEmbedder;
}

function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const isFull = batch.length === BATCH_TEXTS || characters + text.length > BATCH_CHARACTERS;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

function unitVector(
  vector: Awaited<ReturnType<Embedder["embed"]>>[number],
  dimensions: number,
  name: string,
): Float32Array {
  if (vector.length !== dimensions) {
    throw nonsense(name, `a vector of ${vector.length} numbers where others have ${dimensions}`);
  }
  let squares = 0;
  for (let i = 0; i < dimensions; i++) squares += (vector[i] as number) ** 2;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw nonsense(name, "a vector without a direction");
  }
  const unit = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++) unit[i] = (vector[i] as number) / length;
  return unit;
}

function nonsense(model: string, what: string): BackscrollError {
  return new BackscrollError("model_failed", `the embedder ${model} gave ${what}`, {
    details: { model, kind: "nonsense" },
  });
}
