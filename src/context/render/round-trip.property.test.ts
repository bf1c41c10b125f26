/** What a renderer made of a conversation, its converter reads: rendered again it is the same. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { randomContext } from "../../../test/support/random-context.ts";
import { repeats } from "../../../test/support/repeats.ts";
import type { ConvertedMessage } from "../../convert/converted.ts";
import {
  fromAnthropic,
  fromGoogle,
  fromMistral,
  fromModelMessages,
  fromOpenAIChat,
  fromOpenAIResponses,
} from "../../convert/index.ts";
import type { ContextMessage } from "../chat-model.ts";
import { PROVIDERS, type Provider, renderContext } from "./render.ts";
import { STORY } from "./story.cases.ts";

const CONVERTERS: Readonly<Record<Provider, (messages: object[]) => ConvertedMessage[]>> = {
  "ai-sdk": fromModelMessages,
  anthropic: fromAnthropic,
  "openai-chat": fromOpenAIChat,
  "openai-responses": fromOpenAIResponses,
  google: fromGoogle,
  mistral: fromMistral,
};

/** As stored without a model, so that no thought is another model's. */
function toContext({ role, content }: ConvertedMessage): ContextMessage {
  const own = role === "model" ? "assistant" : role === "function" ? "tool" : role;
  return {
    role: own === "developer" ? "system" : own,
    actor: null,
    blocks: content,
    part: "recent",
    entryIds: [],
    model: null,
  };
}

/** The messages without the system text, which is apart at some. */
function rendered(messages: readonly ContextMessage[], provider: Provider): object[] {
  const context: object = renderContext(messages, provider);
  const lists = Object.values(context).filter((value) => Array.isArray(value));
  return lists.flat().filter((each) => each.role !== "system");
}

test.each(PROVIDERS)("what is rendered for %s is read back", (provider) => {
  const known = STORY.map((message) => ({ ...message, model: null }));
  fc.assert(
    fc.property(randomContext(), (random) => {
      const messages = random.map((message) => ({ ...message, model: null }));
      const once = rendered(messages, provider);
      const back = CONVERTERS[provider](once).map(toContext);
      expect(rendered(back, provider)).toEqual(once);
    }),
    { examples: [[known]], numRuns: repeats(100, 2_000) },
  );
});
