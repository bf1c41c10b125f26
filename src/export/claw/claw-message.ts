/** Entries as messages of claw-code, with keys in its documented order. */

import { type Block, inputTextOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import type { JsonObject, JsonValue } from "../../model/json.ts";
import { hasOwnMetadata, sourceFieldsOf } from "../../transcript/source-fields.ts";
import { countKind, type LossLog } from "../losses.ts";

const FORMAT = "claw-code";

/** Undefined if the format cannot hold the entry. */
export function toClawMessage(entry: Entry, losses: LossLog): JsonObject | undefined {
  if (entry.kind === "custom_message") losses.add("custom messages written as the user's");
  else if (entry.kind !== "message") {
    countKind(entry, losses);
    return undefined;
  }
  if (entry.status === "aborted") {
    losses.add("aborted messages");
    return undefined;
  }
  const blocks = entry.blocks.flatMap((block) => toClawBlock(block, losses));
  if (blocks.length === 0 && entry.blocks.length > 0) {
    losses.add("messages");
    return undefined;
  }
  const source = sourceFieldsOf(entry, FORMAT);
  if (source === undefined) countFields(entry, losses);
  const { usage } = entry;
  return {
    role: entry.role ?? "user",
    blocks,
    ...(usage === null
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            output_tokens: usage.outputTokens,
            cache_creation_input_tokens: usage.cacheCreationTokens,
            cache_read_input_tokens: usage.cacheReadTokens,
          },
        }),
    ...source?.fields,
  };
}

function countFields(entry: Entry, losses: LossLog): void {
  losses.add("times of messages");
  if (entry.actor !== null) losses.add("actors of messages");
  if (entry.pinned) losses.add("pins");
  if (hasOwnMetadata(entry.metadata)) losses.add("metadata of messages");
}

function toClawBlock(block: Block, losses: LossLog): JsonValue[] {
  switch (block.type) {
    case "text": {
      const { type, text, ...rest } = block;
      return [{ type, text, ...rest }];
    }
    case "thinking": {
      const { type, text, ...rest } = block;
      return [{ type, thinking: text, ...rest }];
    }
    case "tool_use": {
      const { type, id, name, input: _, inputText: __, ...rest } = block;
      return [{ type, id, name, input: inputTextOf(block), ...rest }];
    }
    case "tool_result": {
      const { type, toolUseId, toolName, output, isError, ...rest } = block;
      const text = typeof output === "string" ? output : outputText(output, losses);
      return [
        {
          type,
          tool_use_id: toolUseId,
          tool_name: toolName ?? "",
          output: text,
          is_error: isError,
          ...rest,
        },
      ];
    }
    case "image":
      losses.add("images");
      return [];
    case "opaque":
      if (block.provider === FORMAT) return [JSON.parse(block.json) as JsonValue];
      losses.add("blocks of other providers");
      return [];
  }
}

function outputText(blocks: readonly Block[], losses: LossLog): string {
  const texts = blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    losses.add(block.type === "image" ? "images" : "blocks inside results");
    return [];
  });
  return texts.join("\n");
}
