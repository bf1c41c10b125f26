/**
 * OpenAI's Chat Completions, and the many servers that speak it.
 *
 * Content is a plain string wherever it can be one: not every server reads lists of parts. Arguments
 * are text here and stay as the model wrote them. Results are text, one message each; their images
 * follow in a user message.
 */

import type { JsonObject } from "../../model/json.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import { type AssistantTurn, callsOf, type Turn, type UserTurn } from "../hygiene/turn.ts";
import type { ContextMessage } from "../message.ts";
import { dataUrl, joinTexts, outputTextWithError } from "./output-text.ts";

export type OpenAiChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  /** As it came from OpenAI. */
  | JsonObject;

export interface OpenAiChatCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type OpenAiChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | OpenAiChatPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: OpenAiChatCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

/** Fits into a request as it is: `{ model, ...context }`. */
export interface OpenAiChatContext {
  messages: OpenAiChatMessage[];
}

const USER_PARTS: readonly unknown[] = ["file", "input_audio"];

const RULES: ProviderRules = {
  thoughts: [],
  thoughtMayEnd: true,
  opaqueNames: ["openai", "openai-chat"],
  takesOpaque: ({ type }, role) => role === "user" && USER_PARTS.includes(type),
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https?:\/\//i,
    fromAssistant: false,
    inResults: "none",
  },
  toolId: { characters: "printable", maxLength: 40, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: false, maxLength: 64 },
  startsWithUser: false,
  assistantAfterTool: false,
};

export function renderOpenAiChat(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): OpenAiChatContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  return {
    messages: [
      ...(system === null ? [] : [{ role: "system" as const, content: system }]),
      ...turns.flatMap(renderTurn),
    ],
  };
}

function renderTurn(turn: Turn): OpenAiChatMessage[] {
  if (turn.role === "user") return [{ role: "user", content: renderUser(turn) }];
  if (turn.role === "assistant") return [renderAssistant(turn)];
  return turn.results.map((result) => ({
    role: "tool",
    tool_call_id: result.toolUseId,
    content: outputTextWithError(result),
  }));
}

function renderUser({ blocks }: UserTurn): string | OpenAiChatPart[] {
  const texts = blocks.filter((block) => block.type === "text");
  if (texts.length === blocks.length) return joinTexts(texts);
  return blocks.map((block): OpenAiChatPart => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type === "opaque") return block.value;
    const url = "url" in block ? block.url : dataUrl(block);
    return { type: "image_url", image_url: { url } };
  });
}

function renderAssistant(turn: AssistantTurn): OpenAiChatMessage {
  const texts = turn.blocks.filter((block) => block.type === "text");
  const calls = callsOf(turn).map(
    (call): OpenAiChatCall => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.input },
    }),
  );
  return {
    role: "assistant",
    content: texts.length === 0 ? null : joinTexts(texts),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
