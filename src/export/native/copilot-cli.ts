/** Sessions of GitHub Copilot CLI: `events.jsonl`, an event for each message and each result. */

import { type Block, inputTextOf, type ToolResultBlock } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import {
  type CarriedMessage,
  isoTime,
  jsonLines,
  lineMark,
  type NativeFormat,
  type NativeInput,
  outputText,
  toArguments,
} from "./carried.ts";

/** Version of the events' form. */
const VERSION = 1;
const PROGRAM_VERSION = "1.0.102";

export const COPILOT_CLI_NATIVE: NativeFormat = {
  name: "copilot-cli",
  reader: {
    provider: null,
    readsThoughts: false,
    holdsResults: true,
    marksFailures: true,
    isText: true,
  },
  write(input) {
    const { id, cwd, gitBranch, now, mark, newUuid } = input;
    let parentId: string | null = null;
    const events: object[] = [];
    const add = (type: string, data: object, at: number) => {
      const event = { type, data, id: newUuid(), timestamp: isoTime(at), parentId };
      events.push(event);
      parentId = event.id;
    };
    const context = { cwd, ...(gitBranch === null ? {} : { branch: gitBranch }) };
    const start = { sessionId: id, version: VERSION, producer: "copilot-agent" };
    const about = { copilotVersion: PROGRAM_VERSION, startTime: isoTime(now), context };
    add("session.start", { ...start, ...about, [COPY_MARK]: mark }, now);
    for (const message of input.messages) {
      const [type, data] = toEvent(message, newUuid);
      add(type, { ...data, [COPY_MARK]: lineMark(message) }, message.at);
    }
    return jsonLines(events);
  },
};

function toEvent(
  { role, blocks, model }: CarriedMessage,
  newUuid: NativeInput["newUuid"],
): readonly [string, object] {
  const content = textOf(blocks);
  if (role === "user") return ["user.message", { content, attachments: [] }];
  if (role === "assistant") {
    const toolRequests = blocks.flatMap(toRequest);
    const said = { messageId: newUuid(), content, toolRequests };
    return ["assistant.message", model === null ? said : { ...said, model }];
  }
  const block = blocks[0] as ToolResultBlock;
  const { toolUseId: toolCallId, toolName, isError } = block;
  const told = outputText(block);
  const outcome = isError
    ? { success: false, error: { message: told } }
    : { success: true, result: { content: told } };
  return ["tool.execution_complete", { toolCallId, toolName, ...outcome }];
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}

function toRequest(block: Block): object[] {
  if (block.type !== "tool_use") return [];
  const { id: toolCallId, name } = block;
  return [{ toolCallId, name, arguments: toArguments(inputTextOf(block)), type: "function" }];
}
