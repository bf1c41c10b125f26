/** Events of Codex CLI: its window's display. Most repeat an item of the answer. */

import type { JsonObject } from "../../model/json.ts";

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
