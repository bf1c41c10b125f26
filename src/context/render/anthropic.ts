/**
 * Renders Anthropic's Messages API.
 *
 * Roles alternate, starting with a user. Results come first in the user message after their calls,
 * so a user turn after a tool turn joins that message. Signed thoughts go back in place, unchanged
 * and never last.
 */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import {
  type AssistantTurn,
  parseArguments,
  type SentImage,
  type SentResult,
  type Turn,
  type UserTurn,
} from "../hygiene/turn.ts";

export interface AnthropicText {
  type: "text";
  text: string;
}

export interface AnthropicImage {
  type: "image";
  source: { type: "base64"; media_type: string; data: string } | { type: "url"; url: string };
}

export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use"; id: string; name: string; input: JsonObject }
  | {
      type: "tool_result";
      tool_use_id: string;
      content: string | (AnthropicText | AnthropicImage)[];
      is_error?: true;
    }
  /** Anthropic's own block, unchanged. */
  | JsonObject;

export interface AnthropicMessage {
  role: "user" | "assistant";
  content: AnthropicBlock[];
}

/** To be spread into a request: `{ model, max_tokens, ...context }`. */
export interface AnthropicContext {
  system?: string;
  messages: AnthropicMessage[];
}

/** Anthropic's blocks that a user may send; the others belong to an assistant. */
const USER_BLOCKS: readonly unknown[] = ["document", "search_result"];
/** These have a typed form: as opaque blocks they would bypass the pairing. */
const OWN_FORMS: readonly unknown[] = ["text", "thinking", "image", "tool_use", "tool_result"];

const RULES: ProviderRules = {
  thoughts: ["anthropic"],
  thoughtMayEnd: false,
  opaqueNames: ["anthropic"],
  takesOpaque: ({ type }, role) =>
    typeof type === "string" &&
    !OWN_FORMS.includes(type) &&
    USER_BLOCKS.includes(type) === (role === "user"),
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https:\/\//i,
    fromAssistant: false,
    inResults: "all",
  },
  toolId: { characters: "word", maxLength: 64, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: false, maxLength: 128 },
  startsWithUser: true,
  assistantAfterTool: false,
};

export function renderAnthropic(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): AnthropicContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  const rendered: AnthropicMessage[] = [];
  turns.forEach((turn, i) => {
    const content = renderTurn(turn, i === turns.length - 1);
    const last = rendered.at(-1);
    if (turn.role === "user" && last?.role === "user") last.content = last.content.concat(content);
    else rendered.push({ role: turn.role === "assistant" ? "assistant" : "user", content });
  });
  return { ...(system === null ? {} : { system }), messages: rendered };
}

function renderTurn(turn: Turn, isLast: boolean): AnthropicBlock[] {
  if (turn.role === "tool") return turn.results.map(renderResult);
  if (turn.role === "user") return turn.blocks.map(renderUser);
  const content = turn.blocks.map(renderAssistant);
  const end = turn.blocks.at(-1);
  // The model would continue this text, and refuses to after trailing white space.
  if (isLast && end?.type === "text") content.splice(-1, 1, text(end.text.trimEnd()));
  return content;
}

function renderUser(block: UserTurn["blocks"][number]): AnthropicBlock {
  if (block.type === "text") return text(block.text);
  return block.type === "image" ? renderImage(block) : block.value;
}

function renderAssistant(block: AssistantTurn["blocks"][number]): AnthropicBlock {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: block.signature };
    case "tool_use":
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        input: parseArguments(inputTextOf(block)),
      };
    case "image":
      return renderImage(block);
    case "opaque":
      return block.value;
  }
}

function renderResult(result: SentResult): AnthropicBlock {
  const parts = result.output.map((part) =>
    part.type === "text" ? text(part.text) : renderImage(part),
  );
  const [first] = parts;
  return {
    type: "tool_result",
    tool_use_id: result.toolUseId,
    content: parts.length === 1 && first?.type === "text" ? first.text : parts,
    ...(result.isError ? { is_error: true } : {}),
  };
}

function renderImage(image: SentImage): AnthropicImage {
  return "url" in image
    ? { type: "image", source: { type: "url", url: image.url } }
    : { type: "image", source: { type: "base64", media_type: image.mediaType, data: image.data } };
}

function text(words: string): AnthropicText {
  return { type: "text", text: words };
}
