/** Extracts the user's text, which stands in tags among the editor's additions. */

import type { Block } from "../../model/block.ts";
import { replaceTagged } from "../tagged-text.ts";

export const FORMAT = "cursor";

/** The blocks with the typed text, and the template around it. */
export function unwrapQuery(blocks: readonly Block[]): {
  readonly blocks: Block[];
  readonly context: string;
} {
  const context: string[] = [];
  const unwrapped = blocks.map((block) => {
    if (block.type !== "text") return block;
    let query: string | undefined;
    const rest = replaceTagged(block.text, ["user_query"], (inner, whole) => {
      const isFirst = query === undefined;
      query ??= inner.trim();
      return isFirst ? "" : whole;
    });
    if (query === undefined) return block;
    context.push(rest.trim());
    return { ...block, text: query };
  });
  return { blocks: unwrapped, context: context.filter((text) => text !== "").join("\n") };
}
