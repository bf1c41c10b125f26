/**
 * A context prepared for a provider: turns whose blocks can all be sent.
 *
 * A stored message may hold anything. A turn holds only blocks that its role may have at the
 * provider, so later steps and renderers need no impossible cases. Tool results are turns of their
 * own.
 */

import { isPlainObject, type JsonObject, stringifyJson } from "../../model/json.ts";
import type { Family } from "./rules.ts";

export interface SentText {
  readonly type: "text";
  readonly text: string;
  /** Google's signature, sent back byte for byte. */
  readonly thoughtSignature?: string;
}

/** A signed thought and the family of its signature. */
export interface SentThinking {
  readonly type: "thinking";
  readonly text: string;
  readonly signature: string;
  readonly family: Family;
}

export interface SentCall {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, unchecked. */
  readonly input: string;
  readonly thoughtSignature?: string;
}

/** Base64 data of a known type, or an address. */
export type SentImage =
  | { readonly type: "image"; readonly data: string; readonly mediaType: string }
  | { readonly type: "image"; readonly url: string; readonly mediaType: string | null };

/** A provider's own object, as it sent it. */
export interface SentOpaque {
  readonly type: "opaque";
  readonly value: JsonObject;
}

export interface SentResult {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly toolName: string;
  /** Never empty. */
  readonly output: readonly (SentText | SentImage)[];
  readonly isError: boolean;
}

export interface UserTurn {
  readonly role: "user";
  readonly blocks: readonly (SentText | SentImage | SentOpaque)[];
}

export interface AssistantTurn {
  readonly role: "assistant";
  readonly blocks: readonly (SentText | SentThinking | SentCall | SentImage | SentOpaque)[];
  /** Its writer was stopped. */
  readonly aborted: boolean;
}

interface ToolTurn {
  readonly role: "tool";
  readonly results: readonly SentResult[];
}

export type Turn = UserTurn | AssistantTurn | ToolTurn;

export function callsOf(turn: AssistantTurn): SentCall[] {
  return turn.blocks.filter((block) => block.type === "tool_use");
}

// Foreign JSON text as the object that providers require.
//
// A model's arguments may be invalid JSON, and a request must not fail because of that. Parsing
// loses digits of big numbers and duplicate keys, so providers that accept text get the text.

/** The object in `text`; null if it is not one, or cannot be written as valid JSON again. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value)) return null;
    // Refuses deep nesting, and numbers that became infinite.
    return LONE_SURROGATE.test(stringifyJson(value, "json")) ? null : (value as JsonObject);
  } catch {
    return null;
  }
}

/** The arguments of a call as an object. Other values are wrapped in one. */
export function parseArguments(text: string): JsonObject {
  const trimmed = text.trim();
  // A call without arguments often has empty text.
  if (trimmed === "" || trimmed === "null") return {};
  return parseObject(text) ?? { _raw: text };
}

/**
 * `JSON.stringify` writes a lone surrogate as an escape; an escaped backslash before it is none.
 */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** The text of a result; images were lifted before. */
export function outputText(result: SentResult): string {
  return joinTexts(result.output.filter((part) => part.type === "text"));
}

/** The text of a result, with a prefix if it is an error. */
export function outputTextWithError(result: SentResult): string {
  const text = outputText(result);
  return result.isError && !SAYS_ERROR.test(text) ? `Error: ${text}` : text;
}

/** The parts of a result, the first with a prefix if it is an error. */
export function outputWithError(result: SentResult): SentResult["output"] {
  if (!result.isError || SAYS_ERROR.test(outputText(result))) return result.output;
  return [{ type: "text", text: "Error:" }, ...result.output];
}

const SAYS_ERROR = /^\W*error\b/i;

/** Joins texts by a blank line. */
export function joinTexts(texts: readonly SentText[]): string {
  return texts.map((part) => part.text).join("\n\n");
}

/** An image as a URL or data URL. */
export function dataUrl(image: { readonly data: string; readonly mediaType: string }): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
