/** Maps response items of Codex CLI to messages, one each. */

import type { Block } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { RecentMap } from "../../model/recent-map.ts";
import { resultBlock } from "../block-fields.ts";
import { type Fields, otherFields, textField } from "../fields.ts";

export interface MappedItem {
  readonly role: Role;
  readonly blocks: readonly Block[];
  /** Injected by the client under the user's role. */
  readonly injected: boolean;
  /** Fields without a place here. */
  readonly fields: JsonObject;
}

/** Undefined for an unknown type, or if a required field is missing. */
export function toItem(item: Fields, toolNames: RecentMap<string, string>): MappedItem | undefined {
  const { type } = item;
  const map = typeof type === "string" && Object.hasOwn(ITEMS, type) ? ITEMS[type] : undefined;
  return map?.(item, toolNames);
}

type MapItem = (item: Fields, toolNames: RecentMap<string, string>) => MappedItem | undefined;

const ITEMS: Readonly<Record<string, MapItem>> = {
  message: toMessage,
  reasoning: (item) => assistant([...toThought(item), toOpaque(item)], {}),
  function_call: (item) => toCall(item, textField(item, "name"), textField(item, "arguments")),
  // Free text instead of arguments; arguments are JSON here.
  custom_tool_call: (item) => {
    const input = textField(item, "input");
    const json = input === undefined ? undefined : JSON.stringify({ input });
    return toCall(item, textField(item, "name"), json);
  },
  local_shell_call: (item) => toCall(item, "local_shell", JSON.stringify(item["action"])),
  tool_search_call: (item) => toCall(item, "tool_search", JSON.stringify(item["arguments"])),
  function_call_output: toResult,
  custom_tool_call_output: toResult,
  local_shell_call_output: toResult,
  mcp_tool_call_output: toResult,
  tool_search_output: (item, toolNames) =>
    toResult({ ...otherFields(item, ["tools"]), output: JSON.stringify(item["tools"]) }, toolNames),
  // The provider runs these itself, so they have no result.
  web_search_call: (item) => assistant([toOpaque(item)], {}),
  image_generation_call: (item) => assistant([toOpaque(item)], {}),
  compaction: (item) => assistant([toOpaque(item)], {}),
  compaction_summary: (item) => assistant([toOpaque(item)], {}),
};

function assistant(blocks: readonly Block[], fields: JsonObject): MappedItem {
  return { role: "assistant", blocks, injected: false, fields };
}

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

function toMessage(item: Fields): MappedItem | undefined {
  const name = textField(item, "role") ?? "";
  const role = Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
  const blocks = toBlocks(item["content"]);
  if (role === undefined || blocks === undefined) return undefined;
  const known = ["type", "content", ...(name === "developer" ? [] : ["role"])];
  const injected = role === "system" || (role === "user" && isInjected(blocks));
  return { role, blocks, injected, fields: otherFields(item, known) };
}

/** The blocks of `content`, a text or a list of items; undefined if it is neither. */
export function toBlocks(content: unknown): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(toBlock) : undefined;
}

function toBlock(content: unknown): Block {
  if (!isPlainObject(content)) return toOpaque(content);
  const { type } = content;
  const text = textField(content, "text");
  if (text !== undefined && (type === "input_text" || type === "output_text" || type === "text")) {
    return { ...otherFields(content, ["type", "text"]), type: "text", text };
  }
  const url = textField(content, "image_url");
  if (type !== "input_image" || url === undefined) return toOpaque(content);
  const [, mediaType, data] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(url) ?? [];
  const rest = otherFields(content, ["type", "image_url"]);
  return mediaType === undefined || data === undefined
    ? { ...rest, type: "image", url }
    : { ...rest, type: "image", mediaType, data };
}

/** The readable part of the model's thinking. */
function toThought(item: Fields): Block[] {
  const parts = [item["summary"], item["content"]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const texts = parts.flatMap((part) =>
    isPlainObject(part) ? [textField(part, "text") ?? ""] : [],
  );
  const text = texts.filter((part) => part !== "").join("\n\n");
  return text === "" ? [] : [{ type: "thinking", text }];
}

/**
 * Kept unchanged. A thought without its encrypted content is refused by the provider, so it is not
 * opaque.
 */
function toOpaque(item: unknown): Block {
  const isBare =
    isPlainObject(item) &&
    item["type"] === "reasoning" &&
    typeof item["encrypted_content"] !== "string";
  const provider = isBare ? "codex" : "openai";
  return { type: "opaque", provider, json: JSON.stringify(item) ?? "null" };
}

function toCall(
  item: Fields,
  name: string | undefined,
  input: string | undefined,
): MappedItem | undefined {
  const id = textField(item, "call_id") ?? textField(item, "id");
  if (id === undefined || name === undefined || input === undefined) return undefined;
  const known = ["call_id", "name", "input", "arguments", "action"];
  // Functions are the default; only other types are recorded.
  const rest = otherFields(item, item["type"] === "function_call" ? ["type", ...known] : known);
  return assistant([{ type: "tool_use", id, name, input }], rest);
}

function toResult(item: Fields, toolNames: RecentMap<string, string>): MappedItem | undefined {
  const toolUseId = textField(item, "call_id");
  if (toolUseId === undefined || item["output"] === undefined) return undefined;
  const { output, failed } = toOutput(item["output"]);
  const rest = otherFields(item, ["call_id", "output"]);
  return {
    role: "tool",
    injected: false,
    blocks: [resultBlock(toolUseId, toolNames.get(toolUseId), output, failed)],
    fields: item["type"] === "function_call_output" ? otherFields(rest, ["type"]) : rest,
  };
}

/** Non-zero exit codes, in each version's words. */
const FAILED =
  /^(?:Exit code: |(?:.*\n){0,4}Process exited with code )[1-9]|"exit_code":[1-9]\d*[,}]/;

function toOutput(output: unknown): { output: string | readonly Block[]; failed: boolean } {
  if (typeof output === "string") {
    const isJson = output.startsWith('{"output":');
    const told = isJson ? output.slice(-200) : output.slice(0, 400);
    return { output, failed: FAILED.test(told) };
  }
  if (isPlainObject(output) && output["content"] !== undefined) {
    const content = toBlocks(output["content"]) ?? JSON.stringify(output["content"]);
    return { output: plain(content), failed: output["success"] === false };
  }
  const blocks = toBlocks(output);
  return { output: blocks === undefined ? JSON.stringify(output) : plain(blocks), failed: false };
}

/** A string if it is a single text. */
function plain(blocks: string | readonly Block[]): string | readonly Block[] {
  if (typeof blocks === "string" || blocks.length !== 1) return blocks;
  const [only] = blocks;
  return only?.type === "text" && Object.keys(only).length === 2 ? only.text : blocks;
}

const OPENINGS = [
  "<environment_context>",
  "<user_instructions>",
  "# AGENTS.md instructions",
  "<permissions instructions>",
  "<turn_aborted>",
  "<subagent_notification>",
  "<skill>",
  "<collaboration_mode>",
  "<apps_instructions>",
  "<skills_instructions>",
];

/** A message whose texts were all injected by the client. */
function isInjected(blocks: readonly Block[]): boolean {
  return (
    blocks.length > 0 &&
    blocks.every(
      (block) =>
        block.type === "text" &&
        OPENINGS.some((opening) => block.text.trimStart().startsWith(opening)),
    )
  );
}
