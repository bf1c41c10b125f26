/**
 * The part of a stored block that a provider may be sent.
 *
 * Signatures and opaque blocks are sent unchanged to their own provider, or not at all. Omitting a
 * thought costs little; a foreign signature makes every later request fail.
 */

import {
  type Block,
  inputTextOf,
  type OpaqueBlock,
  type ThinkingBlock,
} from "../../model/block.ts";
import { cleanText, isBlank } from "./clean-text.ts";
import { type Family, familyOf } from "./family.ts";
import { parseObject } from "./json-object.ts";
import { imageNote, isBase64, readImage } from "./read-image.ts";
import type { ProviderRules } from "./rules.ts";
import { fitName } from "./tool-names.ts";
import type {
  AssistantTurn,
  SentImage,
  SentOpaque,
  SentText,
  SentThinking,
  UserTurn,
} from "./turn.ts";

/** The target provider and model. */
export interface Addressee {
  readonly rules: ProviderRules;
  /** The reading model; null if unknown. */
  readonly model: string | null;
}

export function readUserBlock(block: Block, to: Addressee): UserTurn["blocks"] {
  switch (block.type) {
    case "text":
      return readText(block.text);
    case "image":
      return [readImage(block, to.rules.images)];
    case "opaque":
      return readOpaque(block, "user", to.rules);
    default:
      return [];
  }
}

/** `writer` is the model that wrote the block, if known. */
export function readAssistantBlock(
  block: Block,
  writer: string | null,
  to: Addressee,
): AssistantTurn["blocks"] {
  switch (block.type) {
    case "text":
      return readText(block.text).map((text) => ({
        ...text,
        ...(text.text === block.text ? thoughtSignature(block, writer, to) : {}),
      }));
    case "thinking":
      return readThinking(block, writer, to);
    case "tool_use":
      if (isBlank(block.id) || isBlank(block.name)) return [];
      return [
        {
          type: "tool_use",
          id: block.id,
          name: fitName(block.name, to.rules.toolName),
          input: inputTextOf(block).toWellFormed(),
          ...thoughtSignature(block, writer, to),
        },
      ];
    case "image":
      return [
        to.rules.images.fromAssistant
          ? readImage(block, to.rules.images)
          : imageNote(block.data === undefined ? block.url : undefined),
      ];
    case "opaque":
      // The block names its provider; another model of the same provider may still refuse it.
      return isOfOtherModel(writer, to) ? [] : readOpaque(block, "assistant", to.rules);
    // Results are handled elsewhere; unknown block types cannot be sent.
    default:
      return [];
  }
}

/** A tool's output. A block that no provider claims is data, and is shown as is. */
export function readOutput(
  output: string | readonly Block[],
  rules: ProviderRules,
): (SentText | SentImage)[] {
  if (typeof output === "string") return orNothing(readText(output));
  return orNothing(
    output.flatMap((block) => {
      if (block.type === "text") return readText(block.text);
      if (block.type === "image") return [readImage(block, rules.images)];
      if (block.type !== "opaque" || block.provider !== undefined) return [];
      return readText(
        block.json.length <= MAX_SHOWN
          ? block.json
          : `[${block.json.length} characters of data left out]`,
      );
    }),
  );
}

/** Longer data is a file in base64, not text. */
const MAX_SHOWN = 20_000;

/** Some providers refuse an empty error. */
function orNothing(parts: (SentText | SentImage)[]): (SentText | SentImage)[] {
  return parts.length > 0 ? parts : [{ type: "text", text: "(no output)" }];
}

function readText(text: string): SentText[] {
  const clean = cleanText(text);
  return clean === null ? [] : [{ type: "text", text: clean }];
}

function readThinking(
  { text, signature = "" }: ThinkingBlock,
  writer: string | null,
  to: Addressee,
): SentThinking[] {
  const house = signerOf(writer, to);
  // Only Anthropic's thoughts have this shape, so they need no model name.
  const family = house === "unknown" ? "anthropic" : house;
  if (family === "another" || !to.rules.thoughts.includes(family)) return [];
  if (signature === "" || !signature.isWellFormed() || !text.isWellFormed()) return [];
  if (family === "google" && !isBase64(signature)) return [];
  return [{ type: "thinking", text, signature, family }];
}

/** Google signs calls and text as well; the signature is kept in a field of the block. */
function thoughtSignature(
  block: Block,
  writer: string | null,
  to: Addressee,
): { thoughtSignature?: string } {
  const { thoughtSignature: camel, thought_signature: snake } = block as {
    readonly thoughtSignature?: unknown;
    readonly thought_signature?: unknown;
  };
  const signature = camel ?? snake;
  const house = signerOf(writer, to);
  if (house !== "google" && house !== "unknown") return {};
  if (!to.rules.thoughts.includes("google")) return {};
  if (typeof signature !== "string" || !isBase64(signature)) return {};
  return { thoughtSignature: signature };
}

function readOpaque(
  block: OpaqueBlock,
  role: "user" | "assistant",
  rules: ProviderRules,
): SentOpaque[] {
  // Some add the API: "openai.responses".
  const [name = ""] = (block.provider ?? "").toLowerCase().split(".");
  if (!rules.opaqueNames.includes(name)) return [];
  const value = parseObject(block.json);
  return value !== null && rules.takesOpaque(value, role) ? [{ type: "opaque", value }] : [];
}

/** The family of `writer`'s signatures, as seen by the addressee. */
function signerOf(writer: string | null, to: Addressee): Family | "another" | "unknown" {
  if (writer === null) return "unknown";
  if (isOfOtherModel(writer, to)) return "another";
  // A model accepts its own signatures, even if its name shows no family.
  const own = to.model === writer ? to.rules.thoughts[0] : undefined;
  return familyOf(writer) ?? own ?? "another";
}

function isOfOtherModel(writer: string | null, to: Addressee): boolean {
  return writer !== null && to.model !== null && writer !== to.model;
}
