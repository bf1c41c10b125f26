/** The content of messages of both Kimi CLI and Kimi Code. */

import type { Block } from "../../model/block.ts";
import { toContentBlocks } from "../drafts.ts";
import { textField } from "../fields.ts";

export function toBlocks(format: string, content: unknown): Block[] {
  return toContentBlocks(format, content, (part) => {
    const text = textField(part, "think");
    return part["type"] === "think" && text !== undefined ? { type: "thinking", text } : undefined;
  });
}
