/**
 * Renders Mistral's chat API.
 *
 * Close to OpenAI's, with two more rules: call ids have exactly nine letters and digits, and an
 * assistant speaks between a tool and a user.
 */

import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import { type AssistantTurn, joinTexts, outputTextWithError, type Turn } from "../hygiene/turn.ts";
import { type FunctionCall, functionCalls, userContent } from "./chat-parts.ts";

export type MistralPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: string }
  /** Mistral's own object, unchanged. */
  | JsonObject;

export type MistralMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | MistralPart[] }
  | { role: "assistant"; content: string; tool_calls?: FunctionCall[] }
  | { role: "tool"; tool_call_id: string; name: string; content: string };

/** To be spread into a request: `{ model, ...context }`. */
export interface MistralContext {
  messages: MistralMessage[];
}

const USER_PARTS: readonly unknown[] = ["document_url", "input_audio"];

const RULES: ProviderRules = {
  thoughts: [],
  thoughtMayEnd: true,
  opaqueNames: ["mistral"],
  takesOpaque: ({ type }, role) => role === "user" && USER_PARTS.includes(type),
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https?:\/\//i,
    fromAssistant: false,
    inResults: "none",
  },
  toolId: { characters: "alphanumeric", maxLength: 9, exactLength: true },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: false, maxLength: 64 },
  startsWithUser: true,
  assistantAfterTool: true,
};

export function renderMistral(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): MistralContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  return {
    messages: [
      ...(system === null ? [] : [{ role: "system" as const, content: system }]),
      ...turns.flatMap(renderTurn),
    ],
  };
}

function renderTurn(turn: Turn): MistralMessage[] {
  if (turn.role === "user") return [{ role: "user", content: userContent(turn, toImage) }];
  if (turn.role === "assistant") return [renderAssistant(turn)];
  return turn.results.map((result) => ({
    role: "tool",
    tool_call_id: result.toolUseId,
    name: result.toolName,
    content: outputTextWithError(result),
  }));
}

function toImage(url: string): MistralPart {
  return { type: "image_url", image_url: url };
}

function renderAssistant(turn: AssistantTurn): MistralMessage {
  const texts = turn.blocks.filter((block) => block.type === "text");
  return {
    role: "assistant",
    content: joinTexts(texts),
    ...functionCalls(turn),
  };
}
