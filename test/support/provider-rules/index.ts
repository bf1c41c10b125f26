/** What each provider publishes as its rules, as checks of what would be sent. */

import type { Provider } from "../../../src/context/render/render.ts";
import { aiSdkViolations } from "./ai-sdk.ts";
import { anthropicViolations } from "./anthropic.ts";
import { googleViolations } from "./google.ts";
import { mistralViolations } from "./mistral.ts";
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
