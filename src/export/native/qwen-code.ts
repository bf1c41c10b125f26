/** Chats of Qwen Code as JSON lines: records that name their parents, with parts of Gemini's API. */

import { type Block, inputTextOf, type ToolResultBlock } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import {
  type CarriedMessage,
  isoTime,
  jsonLines,
  lineMark,
  type NativeFormat,
  outputText,
  toArguments,
} from "./carried.ts";

/** Version of the records' form, not of a program. */
const VERSION = "0.24.4";

export const QWEN_CODE_NATIVE: NativeFormat = {
  name: "qwen-code",
  reader: { provider: null, readsThoughts: true, holdsResults: true, marksFailures: true },
  write(input) {
    let parentUuid: string | null = null;
    const records = input.messages.map((message, i) => {
      const uuid = input.newUuid();
      const record = {
        uuid,
        parentUuid,
        sessionId: input.id,
        timestamp: isoTime(message.at),
        ...toContent(message),
        cwd: input.cwd,
        version: VERSION,
        ...(input.gitBranch === null ? {} : { gitBranch: input.gitBranch }),
        [COPY_MARK]: { ...(i === 0 ? input.mark : {}), ...lineMark(message) },
      };
      parentUuid = uuid;
      return record;
    });
    return jsonLines(records);
  },
};

function toContent({ role, blocks, model }: CarriedMessage): object {
  const parts = blocks.flatMap(toPart);
  if (role === "user") {
    return { type: "user", provenance: "real_user", message: { role: "user", parts } };
  }
  if (role === "assistant") {
    const message = { role: "model", parts };
    return {
      type: "assistant",
      provenance: "assistant_output",
      model: model ?? "unknown",
      message,
    };
  }
  const { toolUseId: callId, isError } = blocks[0] as ToolResultBlock;
  const toolCallResult = { callId, status: isError ? "error" : "success" };
  const message = { role: "user", parts };
  return { type: "tool_result", provenance: "tool_result", message, toolCallResult };
}

function toPart(block: Block): object[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text }];
    case "thinking":
      return [{ text: block.text, thought: true }];
    case "tool_use": {
      const { id, name } = block;
      return [{ functionCall: { id, name, args: toArguments(inputTextOf(block)) } }];
    }
    case "tool_result": {
      const { toolUseId: id, toolName: name } = block;
      return [{ functionResponse: { id, name, response: { output: outputText(block) } } }];
    }
    case "image": {
      const { data, url, mediaType: mimeType = "image/png" } = block;
      return [
        data === undefined ? { text: `[image: ${url}]` } : { inlineData: { mimeType, data } },
      ];
    }
    default:
      return [];
  }
}
