/**
 * The public names of `backscroll/convert`: what a provider's SDK returned, as messages to append.
 *
 * Each takes what the provider's call returned, its messages, or one of them. The way there is
 * `renderContext`.
 */

export { fromModelMessages } from "./ai-sdk.ts";
export { fromAnthropic } from "./anthropic.ts";
export type { ConvertedMessage } from "./converted.ts";
export { fromGoogle } from "./google.ts";
export { fromMistral, fromOpenAIChat, fromOpenAIResponses } from "./openai.ts";
