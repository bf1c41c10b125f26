/**
 * What providers differ in, as data: one such record stands beside each renderer.
 *
 * The steps of hygiene read it and know no provider by name.
 */

import type { JsonObject } from "../../model/json.ts";
import type { Family } from "./family.ts";

export interface ImageRules {
  /** The types that may be sent as data. */
  readonly mediaTypes: readonly string[];
  /** The addresses that the provider fetches itself. */
  readonly url: RegExp;
  /** Whether an assistant may have said an image. */
  readonly fromAssistant: boolean;
  /** Which images a tool result can carry; the others follow it in a user turn. */
  readonly inResults: "all" | "data" | "none";
}

/** Which ids of tool calls are taken as they are. */
export interface IdRule {
  /** `word` is letters, digits, `_` and `-`; `printable` is ASCII without spaces. */
  readonly characters: "alphanumeric" | "word" | "printable";
  readonly maxLength: number;
  /** Shorter ones are refused as well. */
  readonly exactLength: boolean;
}

export interface NameRule {
  /** The characters that a name may not have; global and by code point, as in `/[^a-z]/gu`. */
  readonly refused: RegExp;
  /** A name that may not start with a digit or a sign starts with `_` instead. */
  readonly startsWithLetter: boolean;
  readonly maxLength: number;
}

export interface ProviderRules {
  /** Whose signed thoughts are sent back, the provider's own house first. */
  readonly thoughts: readonly Family[];
  /** Whether a thought may be the last thing that a message says. */
  readonly thoughtMayEnd: boolean;
  /** The names by which an opaque block says that it is for this provider. */
  readonly opaqueNames: readonly string[];
  /** Whether an opaque block of this provider may stand in a message of `role` as it is. */
  readonly takesOpaque: (value: JsonObject, role: "user" | "assistant") => boolean;
  readonly images: ImageRules;
  readonly toolId: IdRule;
  readonly toolName: NameRule;
  /** Whether a history that an assistant begins is refused. */
  readonly startsWithUser: boolean;
  /** Whether a user may not speak right behind a tool. */
  readonly assistantAfterTool: boolean;
}

/** What the four houses read as data. */
export const COMMON_MEDIA_TYPES: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
];
