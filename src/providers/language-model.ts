/** Models of the AI SDK as the models that Backscroll asks: whatever provider the host has chosen. */

import type { LanguageModel } from "ai";
import type { TextModel } from "../model/text-model.ts";
import { textModel } from "./ask-model.ts";
import type { LanguageModelOptions } from "./call-options.ts";

/**
 * A language model of the AI SDK, as far as it says what it is: version 2, 3 or 4 of its
 * specification. A name alone is none: it would send conversations to a service that nobody chose.
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): unknown;
}

export function languageModel(model: AiSdkModel, options: LanguageModelOptions = {}): TextModel {
  const { name = model.modelId, ...rest } = options;
  return textModel(name, async () => model as LanguageModel, rest);
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
