/** Chats of Gemini CLI as JSON lines: a header and the messages; calls hold their results. */

import {
  type Block,
  inputTextOf,
  type ToolResultBlock,
  type ToolUseBlock,
} from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import type { CarriedMessage } from "./carried.ts";
import {
  isoTime,
  jsonLines,
  lineMark,
  type NativeFormat,
  type NativeInput,
  outputText,
  toArguments,
} from "./carried.ts";

/** `projectHash` is the SHA-256 of the project's folder in hex. */
export function geminiNative(projectHash: (cwd: string) => string): NativeFormat {
  return {
    name: "gemini-cli",
    reader: { provider: null, readsThoughts: true, holdsResults: true, marksFailures: true },
    write(input) {
      const { id, cwd, now, messages, mark } = input;
      const header = {
        sessionId: id,
        projectHash: projectHash(cwd),
        startTime: isoTime(now),
        lastUpdated: isoTime(now),
        kind: "main",
        [COPY_MARK]: mark,
      };
      return jsonLines([header, ...messages.flatMap((message) => toRecord(message, input))]);
    },
  };
}

function toRecord(message: CarriedMessage, { messages, newUuid }: NativeInput): object[] {
  if (message.role === "tool") return [];
  const { blocks, at, model } = message;
  const parts = blocks.flatMap(toPart);
  const base = { id: newUuid(), timestamp: isoTime(at) };
  const marked = { [COPY_MARK]: lineMark(message) };
  if (message.role === "user") return [{ ...base, type: "user", content: parts, ...marked }];
  const calls = blocks.filter((block) => block.type === "tool_use");
  const [only] = blocks.filter((block) => block.type === "text");
  const isText = parts.length === 1 && only?.type === "text";
  return [
    {
      ...base,
      type: "gemini",
      content: isText ? only.text : parts,
      thoughts: blocks.flatMap((block) =>
        block.type === "thinking"
          ? [{ subject: "", description: block.text, timestamp: base.timestamp }]
          : [],
      ),
      model: model ?? "unknown",
      ...(calls.length === 0 ? {} : { toolCalls: calls.map((call) => toCall(call, messages)) }),
      ...marked,
    },
  ];
}

function toCall(call: ToolUseBlock, messages: readonly CarriedMessage[]): object {
  const { id, name } = call;
  // Pairs are complete, so each call has one.
  const message = messages.find(({ blocks: [block] }) => isResultOf(block, id));
  const result = message?.blocks[0] as ToolResultBlock | undefined;
  const output = result === undefined ? "" : outputText(result);
  const response = { id, name, response: { output } };
  return {
    id,
    name,
    args: toArguments(inputTextOf(call)),
    result: [{ functionResponse: response }],
    status: result?.isError === true ? "error" : "success",
    ...(message === undefined
      ? {}
      : { timestamp: isoTime(message.at), [COPY_MARK]: lineMark(message) }),
  };
}

function isResultOf(block: Block | undefined, id: string): boolean {
  return block?.type === "tool_result" && block.toolUseId === id;
}

function toPart(block: Block): object[] {
  if (block.type === "text") return [{ text: block.text }];
  if (block.type !== "image") return [];
  const { data, url, mediaType: mimeType = "image/png" } = block;
  return [data === undefined ? { text: `[image: ${url}]` } : { inlineData: { mimeType, data } }];
}
