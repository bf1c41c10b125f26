/** Cuts blocks to fit. A note in each gives the cut amount and the entry to read. */

import { type Block, inputTextOf, type ToolResultBlock } from "../model/block.ts";
import { type CutNote, cutText } from "./cut-text.ts";

/**
 * `block` cut to about `keep` by `sizeOf`; null if it cannot be shown. Signed and opaque blocks are
 * useless once cut, so they are dropped whole.
 */
export function cutBlock(
  block: Block,
  keep: number,
  entryId: string,
  sizeOf: (block: Block) => number,
): Block | null {
  const note = noteOf(entryId);
  const cut = (text: string, make: (text: string) => Block): Block => {
    const whole = make(text);
    if (sizeOf(whole) <= keep) return whole;
    return make(cutText(text, keep, (words) => sizeOf(make(words)), note));
  };
  switch (block.type) {
    case "text":
      return cut(block.text, (text) => ({ type: "text", text }));
    case "tool_use": {
      const { id, name } = block;
      if (sizeOf(block) <= keep) return block;
      // Providers require an object; the call's signature is invalid for other arguments.
      const make = (text: string): Block => ({
        type: "tool_use",
        id,
        name,
        input: JSON.stringify({ _cut: text }),
      });
      return make(cutText(inputTextOf(block), keep, (words) => sizeOf(make(words)), note));
    }
    case "tool_result":
      return cut(outputText(block), (output) => ({ ...block, output }));
    case "image":
      return { type: "text", text: `[image left out; to see it: ${howToRead(entryId)}]` };
    default:
      return null;
  }
}

/** The note that replaces dropped parts of a turn. */
export function leftOutNote(messages: number, parts: number, entryId: string): string {
  const counted = [
    ...(messages === 0 ? [] : [`${messages} ${messages === 1 ? "message" : "messages"}`]),
    ...(parts === 0 ? [] : [`${parts} ${parts === 1 ? "part" : "parts"} of messages`]),
  ].join(" and ");
  return `[… ${counted} left out; to read on from there: ${howToRead(entryId)} …]`;
}

export function noteOf(entryId: string): CutNote {
  return (left, total) =>
    `[… ${left} of ${total} characters left out; to read them: ${howToRead(entryId)} …]`;
}

function howToRead(entryId: string): string {
  return `list_messages around ${entryId}`;
}

/** The text of an output; other blocks are named. */
export function outputText({ output }: ToolResultBlock): string {
  if (typeof output === "string") return output;
  return output
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "image" ? "[image left out]" : `[${block.type} left out]`;
    })
    .filter((text) => text !== "")
    .join("\n");
}
