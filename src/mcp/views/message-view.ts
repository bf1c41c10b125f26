/**
 * A message as data: bounded, masked, without provider data.
 *
 * A message may have megabytes. The caller chooses the shown size, and can ask for one message with
 * a larger one.
 */

import { z } from "zod";
import { toWireBlock } from "../../api/block.ts";
import { LONGEST_SECRET, maskBlock } from "../../api/mask.ts";
import { toWireTime } from "../../api/wire.ts";
import { type Block, inputTextOf, type ToolUseBlock } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import type { JsonValue } from "../../model/json.ts";
import { readableBlock, withInputText } from "../../model/tool-input.ts";
import { cutToBytes } from "../cut-text.ts";

export interface BlockView {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface MessageView {
  readonly entry_id: string;
  readonly msg_idx: number | null;
  readonly role: string | null;
  readonly actor: string | null;
  readonly created_at: string;
  readonly model: string | null;
  readonly blocks: readonly BlockView[];
  /** The message is cut. */
  readonly truncated: boolean;
  readonly erased: boolean;
}

export const BLOCK_VIEW: z.ZodType<BlockView> = z.looseObject({ type: z.string() });

export const MESSAGE_VIEW: z.ZodType<MessageView> = z.object({
  entry_id: z.string(),
  msg_idx: z.number().int().nullable(),
  role: z.string().nullable(),
  actor: z.string().nullable(),
  created_at: z.string(),
  model: z.string().nullable(),
  blocks: z.array(BLOCK_VIEW),
  truncated: z.boolean(),
  erased: z.boolean(),
});

export function toMessageView(entry: Entry, maxBytes: number): MessageView {
  const { blocks, truncated } = toBlockViews(entry.blocks, maxBytes);
  return {
    entry_id: entry.id,
    msg_idx: entry.index,
    role: entry.role,
    actor: entry.actor,
    created_at: toWireTime(entry.createdAt),
    model: entry.model,
    blocks,
    truncated: truncated || entry.truncated,
    erased: entry.erased,
  };
}

/** Cut to so much text, plus the rest of a secret at the cut. */
export function cutEntry(entry: Entry, maxBytes: number): Entry {
  const { blocks, truncated } = cutBlocks(entry.blocks, maxBytes + LONGEST_SECRET);
  return { ...entry, blocks, truncated: truncated || entry.truncated };
}

export interface BlockViews {
  readonly blocks: readonly BlockView[];
  readonly truncated: boolean;
}

/** Wire blocks with at most so many bytes of text together, from the first on. */
export function toBlockViews(blocks: readonly Block[], maxBytes: number): BlockViews {
  // Redaction takes time, so text that cannot be shown is cut first.
  const near = cutBlocks(blocks, maxBytes + LONGEST_SECRET);
  const shown = cutBlocks(near.blocks.map(maskBlock), maxBytes);
  return {
    blocks: shown.blocks.map(toWireBlock),
    truncated: near.truncated || shown.truncated,
  };
}

function cutBlocks(
  blocks: readonly Block[],
  maxBytes: number,
): { readonly blocks: readonly Block[]; readonly truncated: boolean } {
  let room = maxBytes;
  let truncated = false;
  const take = (text: string): string => {
    const shown = cutToBytes(text, Math.max(room, 0));
    room -= Buffer.byteLength(shown);
    truncated ||= shown !== text;
    return shown;
  };
  const shown: Block[] = [];
  for (const block of blocks) {
    if (room <= 0) return { blocks: shown, truncated: true };
    shown.push(cutBlock(block, take));
  }
  return { blocks: shown, truncated };
}

function cutBlock(block: Block, take: (text: string) => string): Block {
  switch (block.type) {
    case "text":
      return { ...block, text: take(block.text) };
    case "thinking":
      return { type: "thinking", text: take(block.text) };
    case "tool_use": {
      // The parsed object alone: the raw text would repeat it.
      const call = readableBlock(withInputText(block, take(inputTextOf(block)))) as ToolUseBlock;
      const { inputText: _, ...shown } = call;
      return shown;
    }
    case "tool_result": {
      const { output } = block;
      return {
        ...block,
        output:
          typeof output === "string" ? take(output) : output.map((part) => cutBlock(part, take)),
      };
    }
    case "image": {
      // Base64 costs tokens and means nothing to a model.
      const { type, mediaType, url } = block;
      const media = mediaType === undefined ? {} : { mediaType };
      return { type, ...media, ...(url === undefined ? {} : { url: take(url) }) };
    }
    case "opaque":
      return { ...block, json: take(block.json) };
  }
}

export function showBlocks(blocks: readonly BlockView[]): string {
  return blocks.map(showBlock).join("\n");
}

function showBlock(block: BlockView): string {
  switch (block.type) {
    case "text":
      return String(block["text"]);
    case "thinking":
      return `(thinking) ${String(block["text"])}`;
    case "tool_use":
      return `→ ${String(block["name"])} ${inputTextOf({ input: block["input"] as JsonValue })}`;
    case "tool_result": {
      const { output } = block;
      const text = Array.isArray(output) ? showBlocks(output as BlockView[]) : String(output);
      return `← ${String(block["tool_name"] ?? block["tool_use_id"])} ${text}`;
    }
    case "image":
      return `(image ${String(block["url"] ?? block["media_type"] ?? "")})`;
    default:
      return `(${block.type})`;
  }
}
