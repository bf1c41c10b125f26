/** Sessions of Kimi Code: `wire.jsonl`, with a record for each message of the context. */

import { type Block, inputTextOf, type ToolResultBlock } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import {
  type CarriedMessage,
  jsonLines,
  lineMark,
  type NativeFormat,
  outputText,
  toArguments,
} from "./carried.ts";

/** Version of the records' form. */
const PROTOCOL = "1.5";

export const KIMI_CODE_NATIVE: NativeFormat = {
  name: "kimi-code",
  reader: {
    provider: null,
    readsThoughts: false,
    holdsResults: true,
    marksFailures: true,
    isText: true,
  },
  write({ messages, now, mark, newUuid }) {
    const header = { type: "metadata", protocol_version: PROTOCOL, created_at: now };
    const records = messages.map((message) => ({
      type: "context.append_message",
      agentId: "main",
      message: { ...toMessage(message, newUuid), [COPY_MARK]: lineMark(message) },
      time: message.at,
    }));
    return jsonLines([{ ...header, [COPY_MARK]: mark }, ...records]);
  },
};

function toMessage({ role, blocks }: CarriedMessage, newUuid: () => string): object {
  const id = `msg_${newUuid()}`;
  const content = blocks.flatMap((block) =>
    block.type === "text" ? [{ type: "text", text: block.text }] : [],
  );
  if (role === "user") return { role, content, id, toolCalls: [], origin: { kind: "user" } };
  if (role === "assistant") return { role, content, id, toolCalls: blocks.flatMap(toCall) };
  const result = blocks[0] as ToolResultBlock;
  const told = [{ type: "text", text: outputText(result) }];
  const failed = result.isError ? { isError: true } : {};
  return { role, content: told, id, toolCalls: [], toolCallId: result.toolUseId, ...failed };
}

function toCall(block: Block): object[] {
  if (block.type !== "tool_use") return [];
  const { id, name } = block;
  const input = JSON.stringify(toArguments(inputTextOf(block)));
  return [{ type: "function", id, name, arguments: input }];
}
