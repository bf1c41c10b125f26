/**
 * The names of the tools that coding agents see. Some clients show names alone until a tool is
 * looked for, so a name says when to call it. The tools answer to both names, whoever calls.
 */

import type { McpHost } from "./host.ts";

export const AGENT_NAMES = {
  search_sessions: "search_past_conversations",
  list_messages: "read_past_conversation",
  trace: "trace_past_error_file_or_command",
  recap: "recap_past_work",
  list_sessions: "list_past_conversations",
  search_memory: "search_remembered_notes",
  remember: "remember_for_later",
} as const;

/** The name under which this caller sees a tool. */
export function shownName(
  { tools }: Pick<McpHost, "tools">,
  name: keyof typeof AGENT_NAMES,
): string {
  return tools === "agent" ? AGENT_NAMES[name] : name;
}
