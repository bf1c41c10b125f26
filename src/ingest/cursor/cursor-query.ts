/** Extracts the user's text, which stands in tags among the editor's additions. */

import type { Block } from "../../model/block.ts";

export const FORMAT = "cursor";

const QUERY = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/;

/** The blocks with the typed text, and the template around it. */
export function unwrapQuery(blocks: readonly Block[]): {
  readonly blocks: Block[];
  readonly context: string;
} {
  const context: string[] = [];
  const unwrapped = blocks.map((block) => {
    const query = block.type === "text" ? QUERY.exec(block.text) : null;
    if (block.type !== "text" || query === null) return block;
    context.push(block.text.replace(QUERY, "").trim());
    return { ...block, text: query[1] ?? "" };
  });
  return { blocks: unwrapped, context: context.filter((text) => text !== "").join("\n") };
}
