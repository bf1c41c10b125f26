/** Maps content blocks of pi. Unknown fields stay on the block. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { toCallBlock, toTextBlock } from "../block-fields.ts";
import { type Fields, otherFields, textField } from "../fields.ts";

/** The blocks of `content`, a text or a list of blocks; undefined if it is neither. */
export function toBlocks(content: unknown): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(toBlock) : undefined;
}

/** A tool's output: text if it is a single text, otherwise blocks. */
export function toOutput(content: unknown): string | Block[] | undefined {
  if (typeof content === "string") return content;
  const blocks = toBlocks(content);
  const [only] = blocks ?? [];
  const isText = blocks?.length === 1 && only?.type === "text" && Object.keys(only).length === 2;
  return isText ? only.text : blocks;
}

function toBlock(content: unknown): Block {
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  return known ?? { type: "opaque", provider: "pi", json: JSON.stringify(content) };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "thinkingSignature");
      if (text === undefined) return undefined;
      return {
        ...otherFields(fields, [
          "type",
          "thinking",
          ...(signature === undefined ? [] : ["thinkingSignature"]),
        ]),
        type: "thinking",
        text,
        ...(signature === undefined ? {} : { signature }),
      };
    }
    case "toolCall":
      return toCallBlock(fields, "arguments");
    case "image": {
      const data = textField(fields, "data");
      const mediaType = textField(fields, "mimeType");
      if (data === undefined || mediaType === undefined) return undefined;
      return {
        ...otherFields(fields, ["type", "data", "mimeType"]),
        type: "image",
        mediaType,
        data,
      };
    }
    default:
      return undefined;
  }
}
