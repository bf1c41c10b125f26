/** Events of Codex CLI: what its window showed. Most of them repeat an item of the answer. */

import type { JsonObject } from "../../model/json.ts";

/** Left out, and counted: each stands in the items beside it, or says only that something goes on. */
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

/** Items of newer versions' `item_completed` that stand beside it as they were sent or received. */
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

/** A record with the usage of a call, which `token_count` has as well. */
export const USAGE_RECORD = "token_usage_record";

/** How events begin. A line of another order is parsed. */
const EVENT =
  /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"event_msg","payload":\{"type":"(\w+)"/;
const ITEM = /"item":\{"type":"(\w+)"/;

/** Where an item's type stands, at the latest. */
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
  // These two tell more: what a call took, and whose turn begins.
  if (type === "token_count" || type === "task_started" || !isIgnoredEvent(type)) return undefined;
  return { type: "event_msg", payload: { type } };
}

/** The milliseconds of an id that begins with its time (UUID version 7); undefined for others. */
function timeOf(id: string | null | undefined): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id ?? "") ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

/** Whether a turn was begun before its session was: then it is a copy of another session's. */
export function isCopyOf(turnId: string | undefined, sessionId: string | null): boolean {
  const turn = timeOf(turnId);
  const session = timeOf(sessionId);
  return turn !== undefined && session !== undefined && turn < session;
}
