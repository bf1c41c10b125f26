/**
 * Renders OpenAI's Chat Completions, which many servers speak.
 *
 * Content is a plain string where possible: not every server reads lists of parts. Arguments are
 * the model's text, unchanged. Results are text, one message each; their images follow in a user
 * message.
 */

import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import { type AssistantTurn, joinTexts, outputTextWithError, type Turn } from "../hygiene/turn.ts";
import { type FunctionCall, functionCalls, userContent } from "./chat-parts.ts";

export type OpenAiChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  /** OpenAI's own object, unchanged. */
  | JsonObject;

export type OpenAiChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | OpenAiChatPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: FunctionCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

/** To be spread into a request: `{ model, ...context }`. */
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
  if (turn.role === "user") return [{ role: "user", content: userContent(turn, toImage) }];
  if (turn.role === "assistant") return [renderAssistant(turn)];
  return turn.results.map((result) => ({
    role: "tool",
    tool_call_id: result.toolUseId,
    content: outputTextWithError(result),
  }));
}

function toImage(url: string): OpenAiChatPart {
  return { type: "image_url", image_url: { url } };
}

function renderAssistant(turn: AssistantTurn): OpenAiChatMessage {
  const texts = turn.blocks.filter((block) => block.type === "text");
  return {
    role: "assistant",
    content: texts.length === 0 ? null : joinTexts(texts),
    ...functionCalls(turn),
  };
}
