/**
 * Renders OpenAI's Responses API: a flat list of items.
 *
 * Texts, calls and outputs are items of their own. OpenAI's own items, such as encrypted reasoning,
 * stay in place. Our items have no `id`: it would refer to an item stored by OpenAI.
 */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import {
  type AssistantTurn,
  dataUrl,
  outputTextWithError,
  outputWithError,
  type SentImage,
  type SentResult,
  type Turn,
  type UserTurn,
} from "../hygiene/turn.ts";

export type OpenAiInputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  /** OpenAI's own item, unchanged. */
  | JsonObject;

export type OpenAiItem =
  | { type: "message"; role: "user"; content: OpenAiInputPart[] }
  | { type: "message"; role: "assistant"; content: { type: "output_text"; text: string }[] }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | OpenAiInputPart[] }
  /** OpenAI's own item, unchanged. */
  | JsonObject;

/** To be spread into a request: `{ model, ...context }`. */
export interface OpenAiResponsesContext {
  instructions?: string;
  input: OpenAiItem[];
}

/** Items that need no answer from us. */
const ASSISTANT_ITEMS: readonly unknown[] = [
  "reasoning",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "compaction",
];

const RULES: ProviderRules = {
  thoughts: [],
  thoughtMayEnd: false,
  opaqueNames: ["openai", "openai-responses"],
  takesOpaque: ({ type }, role) =>
    role === "user" ? type === "input_file" : ASSISTANT_ITEMS.includes(type),
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https?:\/\//i,
    fromAssistant: false,
    inResults: "all",
  },
  toolId: { characters: "word", maxLength: 64, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: false, maxLength: 64 },
  startsWithUser: false,
  assistantAfterTool: false,
};

export function renderOpenAiResponses(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): OpenAiResponsesContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  return {
    ...(system === null ? {} : { instructions: system }),
    input: turns.flatMap(renderTurn),
  };
}

function renderTurn(turn: Turn): OpenAiItem[] {
  if (turn.role === "assistant") return turn.blocks.flatMap(renderAssistant);
  if (turn.role === "tool") return turn.results.map(renderResult);
  return [{ type: "message", role: "user", content: turn.blocks.map(renderUser) }];
}

function renderUser(block: UserTurn["blocks"][number]): OpenAiInputPart {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return block.type === "image" ? renderImage(block) : block.value;
}

function renderAssistant(block: AssistantTurn["blocks"][number]): OpenAiItem[] {
  switch (block.type) {
    case "text": {
      const content = [{ type: "output_text" as const, text: block.text }];
      return [{ type: "message", role: "assistant", content }];
    }
    case "tool_use":
      return [
        {
          type: "function_call",
          call_id: block.id,
          name: block.name,
          arguments: inputTextOf(block),
        },
      ];
    case "opaque":
      return [block.value];
    default:
      return [];
  }
}

function renderResult(result: SentResult): OpenAiItem {
  const hasImage = result.output.some((part) => part.type === "image");
  const parts = outputWithError(result).map((part) =>
    part.type === "text" ? { type: "input_text" as const, text: part.text } : renderImage(part),
  );
  return {
    type: "function_call_output",
    call_id: result.toolUseId,
    output: hasImage ? parts : outputTextWithError(result),
  };
}

function renderImage(image: SentImage): OpenAiInputPart {
  const url = "url" in image ? image.url : dataUrl(image);
  return { type: "input_image", image_url: url, detail: "auto" };
}
