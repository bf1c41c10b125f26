/** Maps response items of Codex CLI to messages, one each. */

import type { Block } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { RecentMap } from "../../model/recent-map.ts";
import { type Fields, otherFields, resultBlock, textField } from "../fields.ts";

interface MappedItem {
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

/** Skipped and counted: each repeats an item, or only reports progress. */
const IGNORED: readonly string[] = [
  "user_message",
  "agent_message",
  "agent_message_delta",
  "agent_message_content_delta",
  "agent_reasoning",
  "agent_reasoning_delta",
  "agent_reasoning_section_break",
  "agent_reasoning_raw_content",
  "agent_reasoning_raw_content_delta",
  "task_started",
  "task_complete",
  "turn_started",
  "turn_complete",
  "turn_diff",
  "exec_command_begin",
  "exec_command_end",
  "exec_command_output_delta",
  "patch_apply_begin",
  "patch_apply_end",
  "mcp_tool_call_begin",
  "mcp_tool_call_end",
  "web_search_begin",
  "web_search_end",
  "view_image_tool_call",
  "context_compacted",
  "dynamic_tool_call_request",
  "dynamic_tool_call_response",
  "image_generation_end",
  "raw_response_item",
  "item_started",
  "background_event",
  "token_count",
];

export function isIgnoredEvent(type: string): boolean {
  return IGNORED.includes(type);
}

/** Items of newer versions' `item_completed` that are also present as sent or received. */
const COPIES: readonly string[] = [
  "UserMessage",
  "AgentMessage",
  "Reasoning",
  "CommandExecution",
  "FileChange",
  "McpToolCall",
  "FunctionCallOutput",
  "DynamicToolCall",
  "WebSearch",
  "ImageView",
  "ImageGeneration",
  "ContextCompaction",
];

export function isCopiedItem(type: string): boolean {
  return COPIES.includes(type);
}

/** A record with a call's usage, which `token_count` has as well. */
export const USAGE_RECORD = "token_usage_record";

/** The prefix of events. A line with another field order is parsed. */
const EVENT =
  /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"event_msg","payload":\{"type":"(\w+)"/;
const ITEM = /"item":\{"type":"(\w+)"/;

/** The item's type is within this many characters. */
const BEGINNING = 400;

/**
 * A record with its types alone, for lines that are otherwise unused: half of some files. Only for
 * files with items; without items the events are the only content.
 */
export function skimEvent(text: string): JsonObject | undefined {
  const [, type] = EVENT.exec(text) ?? [];
  if (type === undefined || !text.endsWith("}")) return undefined;
  if (type === "item_completed") {
    const [, item = ""] = ITEM.exec(text.slice(0, BEGINNING)) ?? [];
    return isCopiedItem(item)
      ? { type: "event_msg", payload: { type, item: { type: item } } }
      : undefined;
  }
  // These two matter: a call's usage, and the start of a turn.
  if (type === "token_count" || type === "task_started" || !isIgnoredEvent(type)) return undefined;
  return { type: "event_msg", payload: { type } };
}

/** The milliseconds of a UUID version 7; undefined for other ids. */
function timeOf(id: string | null | undefined): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id ?? "") ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

/** Whether a turn began before its session: then it is a copy from another session. */
export function isCopyOf(turnId: string | undefined, sessionId: string | null): boolean {
  const turn = timeOf(turnId);
  const session = timeOf(sessionId);
  return turn !== undefined && session !== undefined && turn < session;
}
