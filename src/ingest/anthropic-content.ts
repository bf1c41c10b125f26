/**
 * Content in the form of Anthropic's messages, which several agents write: text, or a list of
 * blocks. There a tool's result is in a user's message; here it is a message of the tool.
 */

import type { Block } from "../model/block.ts";
import { isPlainObject } from "../model/json.ts";
import type { RecentMap } from "../model/recent-map.ts";
import type { EntryDraft } from "./drafts.ts";
import { type Fields, otherFields, textField, toTextBlock } from "./fields.ts";

/** Undefined if it is not content. `format` names the agent in opaque blocks. */
export function toContentBlocks(content: unknown, format: string): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map((block) => toContentBlock(block, format)) : undefined;
}

/**
 * The entries of one message: tool results first, then text. `names` maps calls to tool names, and
 * is updated.
 */
export function toMessageDrafts(
  message: EntryDraft & { readonly blocks: readonly Block[] },
  names: RecentMap<string, string>,
): EntryDraft[] {
  const results = message.blocks.filter((block) => block.type === "tool_result");
  const said = message.blocks.filter((block) => block.type !== "tool_result");
  for (const block of said) if (block.type === "tool_use") names.set(block.id, block.name);
  if (results.length === 0 || message.role === "assistant") return [message];
  const named = results.map((block) => {
    const name = names.get(block.toolUseId);
    names.delete(block.toolUseId);
    return name === undefined ? block : { ...block, toolName: name };
  });
  const actor = named.find(({ toolName }) => toolName !== undefined)?.toolName ?? null;
  const tool: EntryDraft = { ...message, role: "tool", actor, blocks: named };
  if (said.length === 0) return [tool];
  const { fields: _, ...bare } = tool;
  return [
    { ...bare, sourceId: `${message.sourceId}/results`, id: null },
    { ...message, blocks: said },
  ];
}

function toContentBlock(block: unknown, format: string): Block {
  const known = isPlainObject(block) ? toKnownBlock(block, format) : undefined;
  return known ?? { type: "opaque", provider: format, json: JSON.stringify(block) };
}

function toKnownBlock(fields: Fields, format: string): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking") ?? textField(fields, "text");
      if (text === undefined) return undefined;
      return { ...otherFields(fields, ["type", "thinking", "text"]), type: "thinking", text };
    }
    case "tool_use": {
      const name = textField(fields, "name");
      if (name === undefined) return undefined;
      const { input } = fields;
      return {
        ...otherFields(fields, ["type", "id", "name", "input"]),
        type: "tool_use",
        id: textField(fields, "id") ?? "",
        name,
        input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
      };
    }
    case "tool_result": {
      const { content = "" } = fields;
      const inner = toContentBlocks(content, format);
      const [only] = inner ?? [];
      const isText = inner?.length === 1 && only?.type === "text";
      const output = typeof content === "string" ? content : isText ? only.text : inner;
      return {
        ...otherFields(fields, ["type", "tool_use_id", "content", "is_error"]),
        type: "tool_result",
        toolUseId: textField(fields, "tool_use_id") ?? "",
        output: output ?? JSON.stringify(content),
        isError: fields["is_error"] === true,
      };
    }
    case "image":
      return toImage(fields["source"]);
    default:
      return undefined;
  }
}

function toImage(source: unknown): Block | undefined {
  if (!isPlainObject(source)) return undefined;
  const mediaType = textField(source, "media_type");
  const data = textField(source, "data");
  const url = textField(source, "url");
  const type = mediaType === undefined ? {} : { mediaType };
  if (data !== undefined) return { type: "image", ...type, data };
  return url === undefined ? undefined : { type: "image", ...type, url };
}
