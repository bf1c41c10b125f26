/** The input of `opencode import`: a session with its messages and parts, as one JSON object. */

import {
  type Block,
  inputTextOf,
  type ToolResultBlock,
  type ToolUseBlock,
} from "../../model/block.ts";
import { COPIED_PICTURE, COPY_MARK } from "../../transcript/copy-mark.ts";
import type { CarriedMessage } from "./carried.ts";
import { lineMark, type NativeFormat, type NativeInput, toArguments } from "./carried.ts";

export const OPENCODE_NATIVE: NativeFormat = {
  name: "opencode",
  reader: { provider: null, readsThoughts: true, holdsResults: true, marksFailures: true },
  write(input) {
    const { id, cwd, title, now, messages } = input;
    const ids = new OpencodeIds(input);
    const info = {
      id,
      slug: id.slice(-12).toLowerCase(),
      projectID: "global",
      directory: cwd,
      path: "",
      title: title === "" ? "Continued from elsewhere" : title,
      version: "1.0.0",
      time: { created: now, updated: now },
    };
    let parentID = "";
    const written = messages.flatMap((message, i) => {
      if (message.role === "tool") return [];
      const messageID = ids.next("msg", i);
      if (message.role === "user") parentID = messageID;
      const parts = message.blocks.flatMap((block, at) => toPart(block, message, input, at === 0));
      return [
        {
          info: {
            ...(message.role === "user" ? toUser(message) : toAnswer(message, parentID, cwd)),
            id: messageID,
            sessionID: id,
          },
          parts: parts.map((part) => ({
            ...part,
            id: ids.next("prt", i),
            sessionID: id,
            messageID,
          })),
        },
      ];
    });
    return `${JSON.stringify({ info, messages: written }, null, 1)}\n`;
  },
};

/** Ids that sort in the order of the messages, as opencode's own do. */
class OpencodeIds {
  readonly #input: NativeInput;
  #count = 0;

  constructor(input: NativeInput) {
    this.#input = input;
  }

  next(prefix: string, index: number): string {
    const { messages, now, newUuid } = this.#input;
    // Another agent's times may not ascend.
    const at = Math.min(now, now - (messages.length - index));
    const time = (BigInt(at) * 0x1000n + BigInt(this.#count++ % 0x1000)) & 0xffffffffffffn;
    return `${prefix}_${time.toString(16).padStart(12, "0")}${newUuid().replaceAll("-", "").slice(0, 14)}`;
  }
}

function toUser({ at, model }: CarriedMessage): object {
  return {
    role: "user",
    time: { created: at },
    agent: "build",
    model: { providerID: "unknown", modelID: model ?? "unknown" },
  };
}

function toAnswer({ at, model, blocks }: CarriedMessage, parentID: string, cwd: string): object {
  const calls = blocks.some(({ type }) => type === "tool_use");
  return {
    parentID,
    role: "assistant",
    mode: "build",
    agent: "build",
    path: { cwd, root: cwd },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    modelID: model ?? "unknown",
    providerID: "unknown",
    time: { created: at, completed: at },
    finish: calls ? "tool-calls" : "stop",
  };
}

/** The mark is on a message's first part, and on a tool's state for its result. */
function toPart(
  block: Block,
  message: CarriedMessage,
  { messages, mark }: NativeInput,
  isFirst: boolean,
): object[] {
  const own = { ...(message === messages[0] ? mark : {}), ...lineMark(message) };
  const metadata = isFirst ? { metadata: { [COPY_MARK]: own } } : {};
  const time = { start: message.at, end: message.at };
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, ...metadata }];
    case "thinking":
      return [{ type: "reasoning", text: block.text, time, ...metadata }];
    case "image": {
      const { data, url = "", mediaType: mime = "image/png" } = block;
      const from = data === undefined ? url : `data:${mime};base64,${data}`;
      return [{ type: "file", mime, url: from }];
    }
    case "tool_use":
      return [{ ...toTool(block, messages, time), ...metadata }];
    default:
      return [];
  }
}

function toTool(
  call: ToolUseBlock,
  messages: readonly CarriedMessage[],
  time: { readonly start: number; readonly end: number },
): object {
  const { id, name } = call;
  const message = messages.find(
    ({ blocks: [block] }) => block?.type === "tool_result" && block.toolUseId === id,
  );
  const result = message?.blocks[0] as ToolResultBlock | undefined;
  const output = result?.output ?? "";
  const text = typeof output === "string" ? output : output.map(textIn).join("\n");
  const metadata = message === undefined ? {} : { [COPY_MARK]: lineMark(message) };
  return {
    type: "tool",
    callID: id,
    tool: name,
    state: {
      input: toArguments(inputTextOf(call)),
      metadata,
      time,
      ...(result?.isError === true
        ? { status: "error", error: text }
        : { status: "completed", output: text, title: name }),
    },
  };
}

function textIn(block: Block): string {
  return block.type === "text" ? block.text : COPIED_PICTURE;
}
