/**
 * What each provider publishes as its rules, as checks of what would be sent.
 *
 * A context may end with an answer: a host may only want to see it. What a model is asked may not.
 */

import type { ContextMessage } from "../../../src/context/message.ts";
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

/** What a request may end with, where a provider says so. */
const END_VIOLATIONS: Partial<Record<Provider, (rendered: unknown) => string[]>> = {
  anthropic: anthropicEndViolations,
  mistral: mistralEndViolations,
};

/** What any of the providers would refuse of what a model is asked. */
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
