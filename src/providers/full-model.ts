/** A model for chat, text and summaries; its type hides the SDK. */

import type { LanguageModel } from "ai";
import type { ChatModel } from "../context/chat-model.ts";
import type { TextModel } from "../model/models.ts";
import { textModel } from "./ask-model.ts";
import type { LanguageModelOptions } from "./call-options.ts";
import { chatModel } from "./chat-model.ts";

/** Writes summaries, extracts facts and answers conversations. */
export type FullModel = TextModel & ChatModel;

/** `load` runs with the first call. */
export function fullModel(
  name: string,
  load: () => Promise<unknown>,
  options: Omit<LanguageModelOptions, "name">,
): FullModel {
  const model = async () => (await load()) as LanguageModel;
  return { ...textModel(name, model, options), ...chatModel(name, model, options) };
}
