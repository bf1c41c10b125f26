/**
 * The part of a stored block that a provider may be sent.
 *
 * Signatures and opaque blocks are sent unchanged to their own provider, or not at all. Omitting a
 * thought costs little; a foreign signature makes every later request fail.
 */

import {
  type Block,
  type ImageBlock,
  inputTextOf,
  type OpaqueBlock,
  type ThinkingBlock,
} from "../../model/block.ts";
import {
  type Family,
  familyOf,
  type ImageRules,
  type NameRule,
  type ProviderRules,
} from "./rules.ts";
import {
  type AssistantTurn,
  parseObject,
  type SentImage,
  type SentOpaque,
  type SentText,
  type SentThinking,
  type UserTurn,
} from "./turn.ts";

/**
 * Converts a stored image to a form that a provider accepts.
 *
 * Images are stored as they came: data or an address, data inside an address, a type that is
 * missing or wrong. A provider checks the type against the bytes and refuses the request if they
 * differ, so the bytes decide. An image that cannot be sent becomes a note, because nearby text may
 * refer to it.
 */
export function readImage(block: ImageBlock, rules: ImageRules): SentImage | SentText {
  const { data, url } = block;
  const inline = data ?? (url !== undefined && /^data:/i.test(url) ? url : undefined);
  if (inline !== undefined) return readData(inline, block.mediaType, rules);
  if (url === undefined) return imageNote();
  if (!url.isWellFormed() || !rules.url.test(url) || !URL.canParse(url)) return imageNote(url);
  return { type: "image", url, mediaType: typeOf(block.mediaType) ?? typeByName(url) };
}

/** Replaces an image that is not sent. */
function imageNote(url?: string): SentText {
  if (url === undefined) return { type: "text", text: "[image left out]" };
  const shown = [...url.toWellFormed()].slice(0, 200).join("");
  return { type: "text", text: `[image left out: ${shown}]` };
}

function readData(
  inline: string,
  declared: string | undefined,
  rules: ImageRules,
): SentImage | SentText {
  const [, inUrl, behind] = DATA_URL.exec(inline) ?? [];
  const data = (behind ?? inline).replace(/\s+/g, "");
  const mediaType = typeByBytes(data) ?? typeOf(inUrl) ?? typeOf(declared);
  if (!isBase64(data) || mediaType === null || !rules.mediaTypes.includes(mediaType)) {
    return imageNote();
  }
  return { type: "image", data, mediaType };
}

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,(.*)$/is;

function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** The base64 prefix of each type's first bytes. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

function typeByBytes(data: string): string | null {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1] ?? null;
}

function typeByName(url: string): string | null {
  const [, ending] = /\.([a-z]+)(?:[?#]|$)/i.exec(url) ?? [];
  if (ending === undefined || !/^(?:png|jpe?g|gif|webp)$/i.test(ending)) return null;
  return typeOf(`image/${ending}`);
}

function typeOf(name: string | undefined): string | null {
  const lower = name?.toLowerCase() ?? "";
  if (!/^image\/[a-z0-9.+-]+$/.test(lower)) return null;
  return lower === "image/jpg" ? "image/jpeg" : lower;
}

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

/**
 * Tool names where a provider restricts them. A valid name is unchanged.
 *
 * `name` with `_` for each refused character, cut to the maximum length. Two names may become
 * equal, which is harmless in a history: ids tie calls to results.
 */
function fitName(name: string, rule: NameRule): string {
  const allowed = name.replaceAll(rule.refused, "_");
  const started = rule.startsWithLetter && !/^[a-zA-Z_]/.test(allowed) ? `_${allowed}` : allowed;
  return started.slice(0, rule.maxLength);
}

// Makes text valid for every provider.
//
// A lone surrogate, left by a cut between UTF-16 units, makes this and every later request invalid
// JSON for strict parsers. Some providers refuse text without a visible character.

/** `text` with lone surrogates replaced; null if it has no visible character. */
export function cleanText(text: string): string | null {
  return isBlank(text) ? null : text.toWellFormed();
}

/** Whether `text` has no visible character. */
function isBlank(text: string): boolean {
  return BLANK.test(text);
}

// Controls count as blank: some providers test by Python's white space, which has more of them than
// JavaScript's.
const BLANK = /^[\s\p{Cc}]*$/u;
