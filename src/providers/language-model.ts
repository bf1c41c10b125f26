/** Language models of the AI SDK, of any provider, and of servers that speak OpenAI's chat protocol. */

import type { LanguageModel } from "ai";
import type { ChatModel } from "../context/chat-model.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { TextModel } from "../model/models.ts";
import { loadOptional } from "../model/optional-package.ts";
import { textModel } from "./ask-model.ts";
import type { LanguageModelOptions } from "./call-options.ts";
import { chatModel } from "./chat-model.ts";

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

/** Writes summaries, extracts facts and answers conversations. */
export type FullModel = TextModel & ChatModel;

/** `load` runs with the first call. */
function fullModel(
  name: string,
  load: () => Promise<unknown>,
  options: Omit<LanguageModelOptions, "name">,
): FullModel {
  const model = async () => (await load()) as LanguageModel;
  return { ...textModel(name, model, options), ...chatModel(name, model, options) };
}

/** A model behind a server with OpenAI's chat protocol, hosted or local. */
export interface CompatibleModelOptions extends LanguageModelOptions {
  /** Up to the version, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** The server's own name of the model. */
  readonly model: string;
  /** Sent as a bearer token; local servers usually need none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function compatibleModel(options: CompatibleModelOptions): FullModel {
  const {
    baseUrl,
    model,
    apiKey,
    headers,
    name = model,
    ...rest
  } = checkFields(options, "options", INPUTS.compatibleModel);
  checkBaseUrl(baseUrl);
  if (typeof model !== "string" || model.trim() === "") {
    throw invalid("model", "model must be the name that the server knows the model under");
  }
  const create = async () => {
    const { createOpenAICompatible } = await loadOptional(
      "@ai-sdk/openai-compatible",
      "compatibleModel needs",
      () => import("@ai-sdk/openai-compatible"),
    );
    const provider = createOpenAICompatible({
      name: "compatible",
      baseURL: baseUrl,
      // Without it a streamed answer reports no usage.
      includeUsage: true,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
    });
    return provider.chatModel(model);
  };
  let created: ReturnType<typeof create> | undefined;
  const load = () => {
    created ??= create();
    return created;
  };
  return fullModel(name, load, rest);
}

/** The error omits the address, which may hold a password. */
export function checkBaseUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return;
  throw invalid("baseUrl", "baseUrl must be an address that begins with http:// or https://");
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
