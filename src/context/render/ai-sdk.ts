/**
 * Renders the AI SDK's model messages, version 7.
 *
 * The final provider is unknown here, so the rules are those that all share. Signatures stand under
 * their provider's name, where only that provider reads them. The system text is apart, because the
 * SDK refuses it among the messages.
 */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ContextMessage } from "../chat-model.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import {
  type AssistantTurn,
  outputText,
  outputWithError,
  parseArguments,
  type SentImage,
  type SentResult,
  type Turn,
  type UserTurn,
} from "../hygiene/turn.ts";

export interface AiSdkText {
  type: "text";
  text: string;
  providerOptions?: AiSdkProviderOptions;
}

export interface AiSdkFile {
  type: "file";
  mediaType: string;
  /** Base64, or an address. */
  data: string;
}

/** Metadata to send back, by provider. */
export interface AiSdkProviderOptions {
  [house: string]: { [option: string]: string };
}

export type AiSdkAssistantPart =
  | AiSdkText
  | AiSdkFile
  | { type: "reasoning"; text: string; providerOptions: AiSdkProviderOptions }
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      input: JsonObject;
      providerOptions?: AiSdkProviderOptions;
    };

export type AiSdkOutputPart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } };

export type AiSdkOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: AiSdkOutputPart[] };

export interface AiSdkToolResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: AiSdkOutput;
}

export type AiSdkMessage =
  | { role: "user"; content: (AiSdkText | AiSdkFile)[] }
  | { role: "assistant"; content: AiSdkAssistantPart[] }
  | { role: "tool"; content: AiSdkToolResult[] };

/** To be spread into a call: `generateText({ model, ...context })`. */
export interface AiSdkContext {
  instructions?: string;
  messages: AiSdkMessage[];
}

const RULES: ProviderRules = {
  thoughts: ["anthropic", "google"],
  thoughtMayEnd: false,
  // Any provider's blocks pass through the SDK's own parts.
  opaqueNames: [],
  takesOpaque: () => false,
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https?:\/\//i,
    fromAssistant: true,
    // An address in a result is a `URL` object, which is not JSON.
    inResults: "data",
  },
  toolId: { characters: "word", maxLength: 40, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: true, maxLength: 64 },
  startsWithUser: true,
  assistantAfterTool: false,
};

export function renderAiSdk(
  messages: readonly ContextMessage[],
  options: RenderOptions,
): AiSdkContext {
  const { system, turns } = prepareTurns(messages, RULES, options);
  return {
    ...(system === null ? {} : { instructions: system }),
    messages: turns.map(renderTurn),
  };
}

function renderTurn(turn: Turn): AiSdkMessage {
  if (turn.role === "tool") return { role: "tool", content: turn.results.map(renderResult) };
  if (turn.role === "user") return { role: "user", content: turn.blocks.flatMap(renderUser) };
  return { role: "assistant", content: turn.blocks.flatMap(renderAssistant) };
}

function renderUser(block: UserTurn["blocks"][number]): (AiSdkText | AiSdkFile)[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  return block.type === "image" ? [renderImage(block)] : [];
}

function renderAssistant(block: AssistantTurn["blocks"][number]): AiSdkAssistantPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, ...signed(block.thoughtSignature) }];
    case "thinking": {
      const option = block.family === "google" ? "thoughtSignature" : "signature";
      const providerOptions = { [block.family]: { [option]: block.signature } };
      return [{ type: "reasoning", text: block.text, providerOptions }];
    }
    case "tool_use":
      return [
        {
          type: "tool-call",
          toolCallId: block.id,
          toolName: block.name,
          input: parseArguments(inputTextOf(block)),
          ...signed(block.thoughtSignature),
        },
      ];
    case "image":
      return [renderImage(block)];
    case "opaque":
      return [];
  }
}

function signed(thoughtSignature: string | undefined): { providerOptions?: AiSdkProviderOptions } {
  return thoughtSignature === undefined
    ? {}
    : { providerOptions: { google: { thoughtSignature } } };
}

function renderResult(result: SentResult): AiSdkToolResult {
  return {
    type: "tool-result",
    toolCallId: result.toolUseId,
    toolName: result.toolName,
    output: renderOutput(result),
  };
}

function renderOutput(result: SentResult): AiSdkOutput {
  if (result.output.every((part) => part.type === "text")) {
    return { type: result.isError ? "error-text" : "text", value: outputText(result) };
  }
  const value = outputWithError(result).flatMap((part): AiSdkOutputPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if ("url" in part) return [];
    return [{ type: "file", mediaType: part.mediaType, data: { type: "data", data: part.data } }];
  });
  return { type: "content", value };
}

/** An unknown type is given by its first half, as the SDK does. */
function renderImage(image: SentImage): AiSdkFile {
  return "data" in image
    ? { type: "file", mediaType: image.mediaType, data: image.data }
    : { type: "file", mediaType: image.mediaType ?? "image", data: image.url };
}
