/**
 * Moves images out of tool results, for providers whose results are text.
 *
 * The image goes to a user turn right after the result, and a note replaces it.
 */

import type { ImageRules } from "./rules.ts";
import type { SentImage, SentResult, Turn } from "./turn.ts";

export function liftImages(turns: readonly Turn[], inResults: ImageRules["inResults"]): Turn[] {
  if (inResults === "all") return [...turns];
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== "tool") return [turn];
    const lifted: SentImage[] = [];
    const results = turn.results.map((result) => lift(result, inResults, lifted));
    if (lifted.length === 0) return [turn];
    return [
      { role: "tool", results },
      { role: "user", blocks: [{ type: "text", text: LIFTED_TEXT }, ...lifted] },
    ];
  });
}

export const LIFTED_TEXT = "[images of the tool results above, in order]";
export const LIFTED_IMAGE_TEXT = "[image: see the next message]";

function lift(result: SentResult, inResults: "data" | "none", lifted: SentImage[]): SentResult {
  const output = result.output.map((part) => {
    if (part.type === "text" || (inResults === "data" && "data" in part)) return part;
    lifted.push(part);
    return { type: "text" as const, text: LIFTED_IMAGE_TEXT };
  });
  return { ...result, output };
}
