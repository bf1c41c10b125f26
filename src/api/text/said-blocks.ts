/** A message without injected text. */

import type { Block } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isInjected, withoutInjected } from "../../search/document/injected.ts";

export function saidBlocks({
  role,
  blocks,
  metadata,
}: Pick<Entry, "role" | "blocks" | "metadata">): readonly Block[] {
  if (role !== "user") return blocks;
  return blocks.flatMap((block): Block[] => {
    if (block.type !== "text") return [block];
    const text = isInjected(metadata) ? "" : withoutInjected(block.text).trim();
    return text === "" ? [] : [{ ...block, text }];
  });
}
