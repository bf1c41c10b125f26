/**
 * The published rules of each provider, as checks of a rendered request.
 *
 * A context may end with an answer, for display; a request to a model may not.
 */

import type { ContextMessage } from "../../../src/context/chat-model.ts";
import { PROVIDERS, type Provider, renderContext } from "../../../src/context/render/render.ts";
import { aiSdkViolations } from "./ai-sdk.ts";
import { anthropicEndViolations, anthropicViolations } from "./anthropic.ts";
import { googleViolations } from "./google.ts";
import { mistralEndViolations, mistralViolations } from "./mistral.ts";
import { openAiChatViolations } from "./openai-chat.ts";
import { openAiResponsesViolations } from "./openai-responses.ts";

export const VIOLATIONS: Readonly<Record<Provider, (rendered: unknown) => string[]>> = {
  "ai-sdk": aiSdkViolations,
  anthropic: anthropicViolations,
  "openai-chat": openAiChatViolations,
  "openai-responses": openAiResponsesViolations,
  google: googleViolations,
  mistral: mistralViolations,
};

/** The allowed last message of a request, by provider. */
const END_VIOLATIONS: Partial<Record<Provider, (rendered: unknown) => string[]>> = {
  anthropic: anthropicEndViolations,
  mistral: mistralEndViolations,
};

/** The violations of any provider's rules by a request. */
export function requestViolations(messages: readonly ContextMessage[]): string[] {
  return PROVIDERS.flatMap((provider) => {
    const rendered = renderContext(messages, provider);
    const found = [
      ...VIOLATIONS[provider](rendered),
      ...(END_VIOLATIONS[provider]?.(rendered) ?? []),
    ];
    return found.map((sentence) => `${provider}: ${sentence}`);
  });
}
