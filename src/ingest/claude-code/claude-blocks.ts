/** Maps content blocks of Claude Code. Unknown fields stay on the block. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { toCallBlock, toTextBlock } from "../block-fields.ts";
import { type Fields, otherFields, textField } from "../fields.ts";

/** The blocks of `content`, a text or a list of blocks; undefined if it is neither. */
export function toBlocks(content: unknown): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map((block) => toBlock(block, "anthropic")) : undefined;
}

function toBlock(content: unknown, provider?: string): Block {
  if (typeof content === "string") return { type: "text", text: content };
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  if (known !== undefined) return known;
  const json = JSON.stringify(content);
  return provider === undefined ? { type: "opaque", json } : { type: "opaque", provider, json };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "signature");
      if (text === undefined) return undefined;
      return {
        ...otherFields(fields, ["type", "thinking", "signature"]),
        type: "thinking",
        text,
        ...(signature === undefined ? {} : { signature }),
      };
    }
    case "tool_use":
      return toCallBlock(fields, "input");
    case "tool_result":
      return toToolResult(fields);
    case "image":
      return toImage(fields);
    default:
      return undefined;
  }
}

function toToolResult(fields: Fields): Block | undefined {
  const toolUseId = textField(fields, "tool_use_id");
  if (toolUseId === undefined) return undefined;
  return {
    ...otherFields(fields, ["type", "tool_use_id", "content", "is_error"]),
    type: "tool_result",
    toolUseId,
    output: toOutput(fields["content"]),
    isError: fields["is_error"] === true,
  };
}

/** A string if it is a single text, otherwise blocks. Outputs have no provider metadata. */
export function toOutput(content: unknown): string | Block[] {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const blocks = (Array.isArray(content) ? content : [content]).map((block) => toBlock(block));
  const [only] = blocks;
  const isText = blocks.length === 1 && only?.type === "text" && Object.keys(only).length === 2;
  return isText ? only.text : blocks;
}

function toImage(fields: Fields): Block | undefined {
  const { source } = fields;
  if (!isPlainObject(source)) return undefined;
  const rest = otherFields(fields, ["type", "source"]);
  const mediaType = textField(source, "media_type");
  const data = textField(source, "data");
  if (source["type"] === "base64" && mediaType !== undefined && data !== undefined) {
    return { ...rest, type: "image", mediaType, data };
  }
  const url = textField(source, "url");
  return source["type"] === "url" && url !== undefined
    ? { ...rest, type: "image", url }
    : undefined;
}
