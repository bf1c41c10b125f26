/** Session files of pi, version 3: a header and a chain of messages. */

import { type Block, inputTextOf } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import type { CarriedMessage } from "./carried.ts";
import { isoTime, jsonLines, lineMark, type NativeFormat, toArguments } from "./carried.ts";

export const PI_NATIVE: NativeFormat = {
  name: "pi",
  reader: { provider: null, readsThoughts: true, holdsResults: false, marksFailures: true },
  write(input) {
    let parentId: string | null = null;
    const header = {
      type: "session",
      version: 3,
      id: input.id,
      timestamp: isoTime(input.now),
      cwd: input.cwd,
      [COPY_MARK]: input.mark,
    };
    const records = input.messages.map((message) => {
      const id = input.newUuid().slice(-12);
      const record = {
        type: "message",
        id,
        parentId,
        timestamp: isoTime(message.at),
        message: toMessage(message),
        [COPY_MARK]: lineMark(message),
      };
      parentId = id;
      return record;
    });
    return jsonLines([header, ...records]);
  },
};

function toMessage({ role, blocks, model, at }: CarriedMessage): object {
  const [first] = blocks;
  if (first?.type === "tool_result") {
    const { output } = first;
    const content = typeof output === "string" ? [{ type: "text", text: output }] : output;
    return {
      role: "toolResult",
      toolCallId: first.toolUseId,
      toolName: first.toolName ?? "",
      content: content.flatMap((block) => toBlock(block as Block)),
      isError: first.isError,
      timestamp: at,
    };
  }
  const content = blocks.flatMap(toBlock);
  if (role === "user") return { role, content, timestamp: at };
  const calls = blocks.some(({ type }) => type === "tool_use");
  return {
    role: "assistant",
    content,
    api: "unknown",
    provider: "unknown",
    model: model ?? "unknown",
    usage: NO_USAGE,
    stopReason: calls ? "toolUse" : "stop",
    timestamp: at,
  };
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: NO_COST,
};

function toBlock(block: Block): object[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      return [{ type: "thinking", thinking: block.text }];
    case "tool_use":
      return [
        {
          type: "toolCall",
          id: block.id,
          name: block.name,
          arguments: toArguments(inputTextOf(block)),
        },
      ];
    case "image":
      if (block.data === undefined) return [{ type: "text", text: `[image: ${block.url ?? ""}]` }];
      return [{ type: "image", data: block.data, mimeType: block.mediaType ?? "image/png" }];
    default:
      return [];
  }
}
