/** Blocks in pi's form: the inverse of its reader. */

import { type Block, inputTextOf } from "../../model/block.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import type { LossLog } from "../losses.ts";

/** Undefined if pi has no such block. */
export function toPiBlock(block: Block, losses: LossLog): object | undefined {
  switch (block.type) {
    case "text":
      return block;
    case "thinking": {
      const { text, signature, ...rest } = block;
      return {
        ...rest,
        thinking: text,
        ...(signature === undefined ? {} : { thinkingSignature: signature }),
      };
    }
    case "tool_use": {
      const { id, name, input: _, inputText: __, type: ___, ...rest } = block;
      return { type: "toolCall", id, name, arguments: toArguments(inputTextOf(block)), ...rest };
    }
    case "image": {
      const { data, mediaType, url, ...rest } = block;
      if (data !== undefined) return { ...rest, data, mimeType: mediaType ?? "image/png" };
      losses.add(url === undefined ? "images" : "images that are named by their address");
      return undefined;
    }
    case "opaque":
      if (block.provider === "pi") return parseExact(block.json) as object;
      losses.add("blocks of other providers");
      return undefined;
    case "tool_result":
      losses.add("results inside results");
      return undefined;
  }
}

export function toPiBlocks(blocks: readonly Block[], losses: LossLog): object[] {
  return blocks.flatMap((block) => toPiBlock(block, losses) ?? []);
}

/** pi stores arguments as an object. Other text stays text, and round-trips. */
function toArguments(input: string): unknown {
  try {
    const value = parseExact(input);
    return typeof value === "object" && value !== null && !isRaw(value) ? value : input;
  } catch {
    // A model's arguments may be invalid JSON.
    return input;
  }
}

/** A number with more digits than a double. */
function isRaw(value: object): boolean {
  return Object.getPrototypeOf(value) === null && "rawJSON" in value;
}
