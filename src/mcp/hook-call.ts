/**
 * Answers hooks of agents that call a tool instead of a program: `recall_for_hook`, which is not
 * listed. Its answer is the hook's output. Wrong input is silence: a hook must not disturb its agent.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { JsonObject } from "../model/json.ts";
import type { McpHost } from "./host.ts";

export const HOOK_TOOL = "recall_for_hook";

export async function callHook(
  host: McpHost,
  input: Readonly<Record<string, unknown>> = {},
): Promise<CallToolResult> {
  const text = (await host.answerHook?.(toQuestion(input))) ?? "";
  return { content: [{ type: "text", text: text.trim() || "{}" }] };
}

function toQuestion(input: Readonly<Record<string, unknown>>) {
  // A field that the agent does not have stays a placeholder, or is empty.
  const text = (name: string) => {
    const value = input[name];
    return typeof value === "string" && !/^\$\{[\w.]+\}$/.test(value) ? value : "";
  };
  const file = text("file");
  const payload: JsonObject = {
    hook_event_name: text("event"),
    session_id: text("session"),
    cwd: text("cwd"),
    prompt: text("prompt"),
    tool_name: file === "" ? "Bash" : "Read",
    tool_input: file === "" ? { command: text("command") } : { file_path: file },
    error: text("error"),
  };
  return { agent: text("agent"), payload };
}
