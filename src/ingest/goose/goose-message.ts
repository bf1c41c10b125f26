/** Messages of Goose: content of several types, with tool results in user messages. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import type { RecentMap } from "../../model/recent-map.ts";
import { toMessageDrafts } from "../anthropic-content.ts";
import { toTime } from "../database/session-tables.ts";
import type { EntryDraft } from "../drafts.ts";
import { type Fields, nameOf, otherFields, textField } from "../fields.ts";

export const FORMAT = "goose";

/** Undefined if it is not a message. `fields` are further known fields. */
export function toDrafts(
  message: Fields,
  sourceId: string,
  names: RecentMap<string, string>,
): EntryDraft[] | undefined {
  const { role, content, metadata } = message;
  if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) return undefined;
  const shown: Fields = isPlainObject(metadata) ? metadata : {};
  const draft = {
    sourceId,
    kind: "message" as const,
    role: role as "user" | "assistant",
    actor: role === "assistant" ? FORMAT : null,
    blocks: content.map(toBlock),
    createdAt: toTime(message["created"]),
    fields: otherFields(message, ["role", "content", "created", "id", "metadata"]),
    // Injected for the model and hidden from the user.
    ...(role === "user" && shown["userVisible"] === false ? { marks: { injected: true } } : {}),
  };
  return toMessageDrafts(draft, names);
}

function toBlock(content: unknown): Block {
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  return known ?? { type: "opaque", provider: FORMAT, json: JSON.stringify(content) ?? "null" };
}

function toKnownBlock(fields: Fields): Block | undefined {
  const id = textField(fields, "id");
  switch (fields["type"]) {
    case "text": {
      const text = textField(fields, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "signature");
      if (text === undefined) return undefined;
      return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
    }
    case "image": {
      const [data, mediaType] = [textField(fields, "data"), textField(fields, "mimeType")];
      return data === undefined || mediaType === undefined
        ? undefined
        : { type: "image", mediaType, data };
    }
    case "toolRequest":
    case "frontendToolRequest": {
      const call = successOf(fields["toolCall"]);
      if (id === undefined || !isPlainObject(call)) return undefined;
      const input = JSON.stringify(call["arguments"] ?? {}) ?? "{}";
      return { type: "tool_use", id, name: nameOf(call["name"] ?? ""), input };
    }
    case "toolResponse": {
      const result = fields["toolResult"];
      if (id === undefined || result === undefined) return undefined;
      return { type: "tool_result", toolUseId: id, ...toOutput(result) };
    }
    default:
      return undefined;
  }
}

/** A result is a success with a value, or an error with its text. */
function successOf(result: unknown): unknown {
  return isPlainObject(result) && "value" in result ? result["value"] : undefined;
}

function toOutput(result: unknown): { output: string; isError: boolean } {
  const error = isPlainObject(result) ? textField(result, "error") : undefined;
  if (error !== undefined) return { output: error, isError: true };
  const value = successOf(result);
  const list = isPlainObject(value) ? value["content"] : value;
  const texts = (Array.isArray(list) ? list : []).map((item) =>
    isPlainObject(item) ? (textField(item, "text") ?? `[${nameOf(item["type"])}]`) : nameOf(item),
  );
  return { output: texts.join("\n"), isError: isPlainObject(value) && value["isError"] === true };
}
