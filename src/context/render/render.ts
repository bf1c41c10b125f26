/**
 * Renders a context as a provider's request messages.
 *
 * Every shape is made of plain objects, without the provider's package, and is valid JSON. Pure and
 * deterministic: a provider's prompt cache depends on it.
 */

import { checkFields } from "../../model/input.ts";
import type { Provider } from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { ContextMessage } from "../chat-model.ts";
import type { RenderOptions } from "../hygiene/prepare-turns.ts";
import { type AiSdkContext, renderAiSdk } from "./ai-sdk.ts";
import { type AnthropicContext, renderAnthropic } from "./anthropic.ts";
import { type GoogleContext, renderGoogle } from "./google.ts";
import { type MistralContext, renderMistral } from "./mistral.ts";
import { type OpenAiChatContext, renderOpenAiChat } from "./openai-chat.ts";
import { type OpenAiResponsesContext, renderOpenAiResponses } from "./openai-responses.ts";

export { PROVIDERS, type Provider } from "../../model/inputs/choices.ts";

/** The request type of each provider. */
export interface RenderedContexts {
  "ai-sdk": AiSdkContext;
  anthropic: AnthropicContext;
  "openai-chat": OpenAiChatContext;
  "openai-responses": OpenAiResponsesContext;
  google: GoogleContext;
  mistral: MistralContext;
}

export type RenderedContext<P extends Provider> = RenderedContexts[P];

/**
 * Renders `messages` for `provider`. Accepts any messages: content that cannot be sent is repaired,
 * replaced by a note or left out. The list ends with the context's last message; most providers
 * require a user or a tool there.
 */
export function renderContext<P extends Provider>(
  messages: readonly ContextMessage[],
  provider: P,
  options: RenderOptions = {},
): RenderedContext<P> {
  return RENDERERS[provider](messages, checkFields(options, "options", INPUTS.renderContext));
}

const RENDERERS: {
  readonly [P in Provider]: (
    messages: readonly ContextMessage[],
    options: RenderOptions,
  ) => RenderedContexts[P];
} = {
  "ai-sdk": renderAiSdk,
  anthropic: renderAnthropic,
  "openai-chat": renderOpenAiChat,
  "openai-responses": renderOpenAiResponses,
  google: renderGoogle,
  mistral: renderMistral,
};
