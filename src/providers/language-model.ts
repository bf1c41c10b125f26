/** Adapts models of the AI SDK, of any provider. */

import type { LanguageModel } from "ai";
import type { ChatModel } from "../context/chat-model.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { LanguageModelOptions } from "./call-options.ts";
import { type FullModel, fullModel } from "./full-model.ts";

/**
 * A language model of the AI SDK, by its identifying fields: version 2, 3 or 4 of its
 * specification. A bare name is refused: the SDK would send conversations to a service that the
 * host did not choose.
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): unknown;
}

export function languageModel(model: AiSdkModel, options: LanguageModelOptions = {}): FullModel {
  checkFields(options, "options", INPUTS.languageModel);
  const { name = model.modelId, ...rest } = options;
  return fullModel(name, async () => model as LanguageModel, rest);
}

/** A model of the AI SDK as a chat model; a chat model is returned unchanged. */
export function toChatModel(model: ChatModel | AiSdkModel): ChatModel {
  if (isAiSdkModel(model)) return languageModel(model);
  if (typeof model?.stream === "function" && typeof model.name === "string") return model;
  throw new BackscrollError(
    "invalid_input",
    "model must be a model of the AI SDK, or an object with name and stream",
    { details: { field: "model" } },
  );
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, modelId, doGenerate } = value as Partial<AiSdkModel>;
  return (
    typeof specificationVersion === "string" &&
    typeof modelId === "string" &&
    typeof doGenerate === "function"
  );
}
