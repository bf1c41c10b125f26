/** Rollouts of Codex CLI: a header, the model's items, and a window event per text. */

import { type Block, inputTextOf } from "../../model/block.ts";
import { COPY_MARK } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import type { CarriedMessage } from "./carried.ts";
import { isoTime, jsonLines, lineMark, type NativeFormat } from "./carried.ts";

export const CODEX_NATIVE: NativeFormat = {
  name: "codex",
  reader: { provider: "openai", readsThoughts: false, holdsResults: false, marksFailures: false },
  write({ id, cwd, gitBranch, now, messages, mark }) {
    const header = {
      id,
      session_id: id,
      timestamp: isoTime(now),
      cwd,
      originator: "backscroll",
      cli_version: "0.0.0",
      source: "cli",
      ...(gitBranch === null ? {} : { git: { branch: gitBranch } }),
      [COPY_MARK]: mark,
    };
    return jsonLines([
      { timestamp: isoTime(now), type: "session_meta", payload: header },
      ...messages.flatMap(toRecords),
    ]);
  },
};

function toRecords(message: CarriedMessage): object[] {
  const timestamp = isoTime(message.at);
  const marked = { [COPY_MARK]: lineMark(message) };
  const items = toItems(message).map((payload) => ({
    timestamp,
    type: "response_item",
    payload,
    ...marked,
  }));
  const said = message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (said.length === 0 || message.role === "tool") return items;
  const event =
    message.role === "user"
      ? { type: "user_message", images: [], local_images: [], text_elements: [] }
      : { type: "agent_message" };
  return [
    ...items,
    { timestamp, type: "event_msg", payload: { ...event, message: said.join("\n\n") } },
  ];
}

/** An item per call and encrypted block, and one for the text between two. */
function toItems({ role, blocks }: CarriedMessage): object[] {
  const items: object[] = [];
  let content: object[] = [];
  const flush = () => {
    if (content.length > 0) items.push({ type: "message", role, content });
    content = [];
  };
  for (const block of blocks) {
    const part = toPart(block, role);
    if (part !== undefined) content.push(part);
    else {
      flush();
      items.push(toItem(block));
    }
  }
  flush();
  return items;
}

function toPart(block: Block, role: string): object | undefined {
  if (block.type === "text") {
    return { type: role === "assistant" ? "output_text" : "input_text", text: block.text };
  }
  if (block.type !== "image") return undefined;
  const { data, url, mediaType = "image/png" } = block;
  return {
    type: "input_image",
    image_url: data === undefined ? (url ?? "") : `data:${mediaType};base64,${data}`,
  };
}

function toItem(block: Block): object {
  switch (block.type) {
    case "tool_use":
      return {
        type: "function_call",
        name: block.name,
        arguments: inputTextOf(block),
        call_id: block.id,
      };
    case "tool_result": {
      const { output, toolUseId } = block;
      return {
        type: "function_call_output",
        call_id: toolUseId,
        output:
          typeof output === "string" ? output : output.map((inner) => toPart(inner, "user") ?? {}),
      };
    }
    case "opaque":
      return parseExact(block.json) as object;
    default:
      return {};
  }
}
