/**
 * Renders Google's Gemini API.
 *
 * A turn of calls is answered by a turn with as many responses and nothing else, so the user's text
 * and images after it are a content of their own. Thought signatures go back on their own parts.
 */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import {
  type AssistantTurn,
  outputText,
  parseArguments,
  type SentImage,
  type SentResult,
  type Turn,
  type UserTurn,
} from "../hygiene/turn.ts";

export type GooglePart =
  | { text: string; thought?: true; thoughtSignature?: string }
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { mimeType?: string; fileUri: string } }
  | { functionCall: { id: string; name: string; args: JsonObject }; thoughtSignature?: string }
  | { functionResponse: { id: string; name: string; response: JsonObject } }
  /** Google's own part, unchanged. */
  | JsonObject;

export interface GoogleContent {
  role: "user" | "model";
  parts: GooglePart[];
}

/** To be spread into a request: `{ ...context, tools }`. */
export interface GoogleContext {
  systemInstruction?: { parts: { text: string }[] };
  contents: GoogleContent[];
}

/** Parts without a typed form here, by their field. */
const MODEL_FIELDS: readonly string[] = ["executableCode", "codeExecutionResult"];
const USER_FIELDS: readonly string[] = ["fileData", "inlineData"];
const OWN_FIELDS: readonly string[] = ["text", "functionCall", "functionResponse"];

const RULES: ProviderRules = {
  thoughts: ["google"],
  thoughtMayEnd: true,
  opaqueNames: ["google", "gemini", "vertex", "google-vertex"],
  takesOpaque: (value, role) =>
    (role === "user" ? USER_FIELDS : MODEL_FIELDS).some((field) => Object.hasOwn(value, field)) &&
    !OWN_FIELDS.some((field) => Object.hasOwn(value, field)),
  images: {
    mediaTypes: [...COMMON_MEDIA_TYPES, "image/heic", "image/heif"],
    url: /^(?:https|gs):\/\//i,
    fromAssistant: true,
    inResults: "none",
  },
  toolId: { characters: "alphanumeric", maxLength: 40, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_.:-]/gu, startsWithLetter: true, maxLength: 64 },
  startsWithUser: true,
  assistantAfterTool: false,
};

export function renderGoogle(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): GoogleContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  return {
    ...(system === null ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map((turn) => ({
      role: turn.role === "assistant" ? "model" : "user",
      parts: renderTurn(turn),
    })),
  };
}

function renderTurn(turn: Turn): GooglePart[] {
  if (turn.role === "tool") return turn.results.map(renderResult);
  return turn.blocks.map(renderBlock);
}

function renderBlock(
  block: UserTurn["blocks"][number] | AssistantTurn["blocks"][number],
): GooglePart {
  switch (block.type) {
    case "text":
      return { text: block.text, ...signature(block.thoughtSignature) };
    case "thinking":
      return { text: block.text, thought: true, ...signature(block.signature) };
    case "tool_use": {
      const functionCall = {
        id: block.id,
        name: block.name,
        args: parseArguments(inputTextOf(block)),
      };
      return { functionCall, ...signature(block.thoughtSignature) };
    }
    case "image":
      return renderImage(block);
    case "opaque":
      return block.value;
  }
}

function signature(thoughtSignature: string | undefined): { thoughtSignature?: string } {
  return thoughtSignature === undefined ? {} : { thoughtSignature };
}

/** Google's two keys for a function's result and its error. */
function renderResult(result: SentResult): GooglePart {
  const response = { [result.isError ? "error" : "output"]: outputText(result) };
  return { functionResponse: { id: result.toolUseId, name: result.toolName, response } };
}

function renderImage(image: SentImage): GooglePart {
  if ("data" in image) return { inlineData: { mimeType: image.mediaType, data: image.data } };
  const type = image.mediaType === null ? {} : { mimeType: image.mediaType };
  return { fileData: { ...type, fileUri: image.url } };
}
