/** An example conversation with everything that renderers treat differently. */

import type { ContextMessage } from "../chat-model.ts";

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";

export const STORY: readonly ContextMessage[] = [
  message("system", [{ type: "text", text: "Be brief." }]),
  message("user", [{ type: "text", text: "What is in a.txt?" }]),
  {
    ...message("assistant", [
      { type: "thinking", text: "Two ways.", signature: "c2lnbmVk" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "toolu_1", name: "read", input: '{"path":"a.txt"}' },
      { type: "tool_use", id: "call|2", name: "shell.run", input: '{"command":' },
    ]),
    model: "claude-sonnet-4-5",
  },
  message("tool", [
    { type: "tool_result", toolUseId: "call|2", output: "no such command", isError: true },
    {
      type: "tool_result",
      toolUseId: "toolu_1",
      output: [
        { type: "text", text: "hello" },
        { type: "image", data: PNG, mediaType: "image/png" },
      ],
      isError: false,
    },
  ]),
  message("system", [{ type: "text", text: "Half the budget is used." }]),
  message("user", [{ type: "text", text: "And?" }]),
];

/** A message of one text. */
export function said(role: ContextMessage["role"], text: string): ContextMessage {
  return message(role, [{ type: "text", text }]);
}

function message(role: ContextMessage["role"], blocks: ContextMessage["blocks"]): ContextMessage {
  return { role, actor: null, blocks, part: "recent", entryIds: [], model: null };
}
