/** Translates a route's levels into options for models and channels. */

import { REASONING_EFFORTS, type ReasoningEffort } from "../../context/chat-model.ts";
import type { Entry } from "../../model/entry.ts";
import type { RouteFields } from "../../model/route.ts";

export interface ReadThinking {
  /** Undefined: the provider's own default. */
  readonly reasoning?: ReasoningEffort;
  /** Why the level is not followed. */
  readonly problem?: string;
}

/** Synonyms of the SDK's levels; null: the provider's default. */
const MEANINGS: Readonly<Record<string, ReasoningEffort | null>> = {
  off: "none",
  on: "low",
  default: null,
  "provider-default": null,
};

/**
 * Maps `thinkingLevel`, in any case, to a reasoning effort. An unknown word is reported and
 * ignored: it may belong to another gateway, and the message still needs an answer.
 */
export function readThinking({ thinkingLevel = "" }: RouteFields): ReadThinking {
  const word = thinkingLevel.trim().toLowerCase();
  const meant = Object.hasOwn(MEANINGS, word)
    ? MEANINGS[word]
    : REASONING_EFFORTS.find((effort) => effort === word);
  if (word === "" || meant === null) return {};
  if (meant !== undefined) return { reasoning: meant };
  const known = [...Object.keys(MEANINGS), ...REASONING_EFFORTS].join(", ");
  const shown = JSON.stringify(thinkingLevel.slice(0, 40));
  return { problem: `the route's thinkingLevel ${shown} is unknown; known are ${known}` };
}

/** The model's thinking, if `reasoningLevel` permits it. */
export function shownThoughts({ reasoningLevel }: RouteFields, { blocks }: Entry): string[] {
  if (!isOn(reasoningLevel)) return [];
  return blocks.flatMap((block) =>
    block.type === "thinking" && block.text.trim() !== "" ? [block.text] : [],
  );
}

/** Every word but `off` means on. */
export function isOn(level: string | undefined): boolean {
  const word = level?.trim().toLowerCase() ?? "";
  return word !== "" && word !== "off";
}
