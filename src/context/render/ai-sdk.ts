/**
 * The AI SDK's model messages, version 7.
 *
 * They are passed on to a provider that is not known here, so the rules are what all of them share.
 * Signatures stand under the name of the house that made them, where only that one looks. The system
 * text is apart, because the SDK refuses it in the list of messages.
 */

import { inputTextOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import { parseArguments } from "../hygiene/json-object.ts";
import { prepareTurns, type RenderOptions } from "../hygiene/prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "../hygiene/rules.ts";
import type { AssistantTurn, SentImage, SentResult, Turn, UserTurn } from "../hygiene/turn.ts";
import type { ContextMessage } from "../message.ts";
import { outputText, outputWithError } from "./output-text.ts";

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

/** By provider: the metadata that it wants back. */
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

/** Fits into a call as it is: `generateText({ model, ...context })`. */
export interface AiSdkContext {
  instructions?: string;
  messages: AiSdkMessage[];
}

const RULES: ProviderRules = {
  thoughts: ["anthropic", "google"],
  thoughtMayEnd: false,
  // Whatever a provider made has passed through the SDK's own parts.
  opaqueNames: [],
  takesOpaque: () => false,
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https?:\/\//i,
    fromAssistant: true,
    // An address in a result is a `URL` object there, which is no JSON.
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

/** A type that is not known is named by its first half, as the SDK has it. */
function renderImage(image: SentImage): AiSdkFile {
  return "data" in image
    ? { type: "file", mediaType: image.mediaType, data: image.data }
    : { type: "file", mediaType: image.mediaType ?? "image", data: image.url };
}
