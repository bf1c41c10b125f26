/** A model behind a server with OpenAI's chat protocol, hosted or local. */

import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { LanguageModelOptions } from "./call-options.ts";
import { type FullModel, fullModel } from "./full-model.ts";

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
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
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
