/** Items of the OpenAI Agents SDK, for tests. */

import type { AgentInputItem } from "@openai/agents";

export const user = (content: string): AgentInputItem => ({
  type: "message",
  role: "user",
  content,
});
export const said = (text: string): AgentInputItem => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});
export const call = (callId: string, args = "{}"): AgentInputItem => ({
  type: "function_call",
  callId,
  name: "look",
  status: "completed",
  arguments: args,
});
export const result = (callId: string, text: string): AgentInputItem => ({
  type: "function_call_result",
  callId,
  name: "look",
  status: "completed",
  output: { type: "text", text },
});

/** One of each kind that a run stores, and odd ones. */
export const ITEMS: readonly AgentInputItem[] = [
  user("why does cron run twice?"),
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "input_text", text: "look at this" },
      { type: "input_image", image: "data:image/png;base64,aGk=" },
      { type: "input_file", file: "data:text/plain;base64,aGk=", filename: "a b.txt" },
    ],
  },
  { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "A lock." }] },
  call("c/1", '{"path": "/var/lock", "n": 12345678901234567890}'),
  result("c/1", "cron.lock"),
  {
    type: "hosted_tool_call",
    name: "web_search_call",
    status: "completed",
    providerData: { query: "cron" },
  },
  { type: "compaction", id: "cmp_1", encrypted_content: "sealed" },
  said("The lock is gone."),
  { role: "assistant", status: "completed", content: [] },
  { role: "user", content: "", providerData: { $bytes: "mine", $object: 1, nothing: null } },
  { type: "unknown", providerData: { any: ["thing", { é: "😀" }] } } as AgentInputItem,
];
