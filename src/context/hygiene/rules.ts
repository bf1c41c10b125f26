/**
 * Differences between providers as data: each renderer has such a record.
 *
 * The repair steps read it and name no provider.
 */

import type { JsonObject } from "../../model/json.ts";

export interface ImageRules {
  /** The types that may be sent as data. */
  readonly mediaTypes: readonly string[];
  /** URLs that the provider fetches itself. */
  readonly url: RegExp;
  /** Whether an assistant message may hold an image. */
  readonly fromAssistant: boolean;
  /** Images that a tool result can hold; the others follow in a user turn. */
  readonly inResults: "all" | "data" | "none";
}

/** The accepted ids of tool calls. */
export interface IdRule {
  /** `word` is letters, digits, `_` and `-`; `printable` is ASCII without spaces. */
  readonly characters: "alphanumeric" | "word" | "printable";
  readonly maxLength: number;
  /** Shorter ids are refused too. */
  readonly exactLength: boolean;
}

export interface NameRule {
  /** Characters refused in a name; global and by code point, as in `/[^a-z]/gu`. */
  readonly refused: RegExp;
  /** A name that starts with a digit or a sign gets a leading `_`. */
  readonly startsWithLetter: boolean;
  readonly maxLength: number;
}

export interface ProviderRules {
  /** Families whose signed thoughts are accepted, the provider's own first. */
  readonly thoughts: readonly Family[];
  /** Whether a message may end in a thought. */
  readonly thoughtMayEnd: boolean;
  /** The names that an opaque block for this provider has. */
  readonly opaqueNames: readonly string[];
  /** Whether a message of `role` may hold an opaque block of this provider. */
  readonly takesOpaque: (value: JsonObject, role: "user" | "assistant") => boolean;
  readonly images: ImageRules;
  readonly toolId: IdRule;
  readonly toolName: NameRule;
  /** Whether a history must begin with a user. */
  readonly startsWithUser: boolean;
  /** Whether an assistant must speak between a tool and a user. */
  readonly assistantAfterTool: boolean;
}

/** Image types that all four families accept as data. */
export const COMMON_MEDIA_TYPES: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
];

// The provider family whose model wrote a message.
//
// A signature is valid only for the family that made it, and a wrong one makes every later request
// fail, because the message stays in the history. Messages name their model but not its family, so
// the family is derived from the name.

export type Family = "anthropic" | "google" | "openai" | "mistral";

/** In this order: "vertex/claude-…" is Anthropic's model on Google's machines. */
const NAMES: readonly (readonly [Family, RegExp])[] = [
  ["anthropic", /claude|anthropic/i],
  ["google", /gemini|gemma|google/i],
  ["mistral", /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral/i],
  ["openai", /gpt|openai|codex|(?:^|[/:.])o\d/i],
];

/** The family of `model`; null if the name does not show it. */
export function familyOf(model: string): Family | null {
  return NAMES.find(([, name]) => name.test(model))?.[0] ?? null;
}
