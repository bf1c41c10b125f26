/** Parts shared by the chat APIs of OpenAI and Mistral. */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import { type AssistantTurn, callsOf, dataUrl, joinTexts, type UserTurn } from "../hygiene/turn.ts";

/** The arguments are the model's text. */
export interface FunctionCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** The `tool_calls` field; absent without calls. */
export function functionCalls(turn: AssistantTurn): { tool_calls?: FunctionCall[] } {
  const calls = callsOf(turn).map(
    (call): FunctionCall => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: inputTextOf(call) },
    }),
  );
  return calls.length === 0 ? {} : { tool_calls: calls };
}

/** A plain string if there is only text; images are given by URL or data URL. */
export function userContent<Image>(
  { blocks }: UserTurn,
  toImage: (url: string) => Image,
): string | ({ type: "text"; text: string } | Image | JsonObject)[] {
  const texts = blocks.filter((block) => block.type === "text");
  if (texts.length === blocks.length) return joinTexts(texts);
  return blocks.map((block) => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type === "opaque") return block.value;
    return toImage("url" in block ? block.url : dataUrl(block));
  });
}
