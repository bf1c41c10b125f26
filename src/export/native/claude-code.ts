/** Session files of Claude Code: a line for each message, in a chain of uuids. */

import { type Block, inputTextOf } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import type { CarriedMessage } from "./carried.ts";
import {
  isoTime,
  jsonLines,
  lineMark,
  type NativeFormat,
  type NativeInput,
  toArguments,
} from "./carried.ts";

export const CLAUDE_CODE_NATIVE: NativeFormat = {
  name: "claude-code",
  reader: { provider: "anthropic", readsThoughts: false, holdsResults: false, marksFailures: true },
  write(input) {
    let parentUuid: string | null = null;
    let answer = "";
    const lines = input.messages.map((message, i) => {
      const uuid = input.newUuid();
      // The lines of one answer share its id.
      if (message.role === "assistant" && input.messages[i - 1]?.role !== "assistant") {
        answer = `msg_${uuid.replaceAll("-", "")}`;
      }
      const line = {
        parentUuid,
        isSidechain: false,
        userType: "external",
        cwd: input.cwd,
        sessionId: input.id,
        version: VERSION,
        ...(input.gitBranch === null ? {} : { gitBranch: input.gitBranch }),
        ...(message.role === "assistant"
          ? { type: "assistant", message: toAnswer(message, answer) }
          : { type: "user", message: { role: "user", content: toContent(message.blocks) } }),
        uuid,
        timestamp: isoTime(message.at),
        [COPY_MARK]: { ...(i === 0 ? input.mark : {}), ...lineMark(message) },
      };
      parentUuid = uuid;
      return line;
    });
    return jsonLines(lines) + titleLine(input);
  },
};

/** Version of the lines' format, not of a program. */
const VERSION = "2.1.0";

function titleLine({ title, id }: NativeInput): string {
  return title === ""
    ? ""
    : jsonLines([{ type: "custom-title", customTitle: title, sessionId: id }]);
}

function toAnswer({ blocks, model }: CarriedMessage, id: string): object {
  const calls = blocks.some(({ type }) => type === "tool_use");
  return {
    id,
    type: "message",
    role: "assistant",
    model: model ?? "<synthetic>",
    content: blocks.map(toBlock),
    stop_reason: calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    // The first agent has counted it.
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

function toContent(blocks: readonly Block[]): string | object[] {
  const [only] = blocks;
  return blocks.length === 1 && only?.type === "text" ? only.text : blocks.map(toBlock);
}

function toBlock(block: Block): object {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: block.signature ?? "" };
    case "tool_use":
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        input: toArguments(inputTextOf(block)),
      };
    case "tool_result":
      return {
        type: "tool_result",
        tool_use_id: block.toolUseId,
        content: typeof block.output === "string" ? block.output : block.output.map(toBlock),
        ...(block.isError ? { is_error: true } : {}),
      };
    case "image":
      return { type: "image", source: toSource(block) };
    case "opaque":
      return parseExact(block.json) as object;
  }
}

function toSource({ data, url, mediaType }: Extract<Block, { type: "image" }>): object {
  if (data === undefined) return { type: "url", url: url ?? "" };
  return { type: "base64", media_type: mediaType ?? "image/png", data };
}
