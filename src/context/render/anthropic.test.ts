import { expect, test } from "vitest";
import type { ContextMessage } from "../chat-model.ts";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for Anthropic", () => {
  expect(renderContext(STORY, "anthropic")).toEqual({
    system: "Be brief.",
    messages: [
      { role: "user", content: [{ type: "text", text: "What is in a.txt?" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Two ways.", signature: "c2lnbmVk" },
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.txt" } },
          {
            type: "tool_use",
            id: "call20fbf6e6c88",
            name: "shell_run",
            input: { _raw: '{"command":' },
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [
              { type: "text", text: "hello" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
          {
            type: "tool_result",
            tool_use_id: "call20fbf6e6c88",
            content: "no such command",
            is_error: true,
          },
          { type: "text", text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { type: "text", text: "And?" },
        ],
      },
    ],
  });
});

test("a history from assistant to assistant gets a leading user turn and loses trailing white space", () => {
  const messages = [
    said("assistant", "One. "),
    said("user", "Go on."),
    said("assistant", "Two. \n"),
  ];
  expect(renderContext(messages, "anthropic").messages).toEqual([
    { role: "user", content: [{ type: "text", text: "(The conversation continues.)" }] },
    { role: "assistant", content: [{ type: "text", text: "One. " }] },
    { role: "user", content: [{ type: "text", text: "Go on." }] },
    { role: "assistant", content: [{ type: "text", text: "Two." }] },
  ]);
});

test("a turn of a single thought is dropped, and its neighbours are merged", () => {
  const thought: ContextMessage = {
    ...said("assistant", ""),
    blocks: [
      { type: "thinking", text: "Hm.", signature: "c2lnbmVk" },
      { type: "opaque", provider: "anthropic", json: '{"type":"redacted_thinking","data":"x"}' },
    ],
    model: "claude-sonnet-4-5",
  };
  const messages = [said("user", "One."), thought, said("user", "Two.")];
  expect(renderContext(messages, "anthropic").messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "One." },
        { type: "text", text: "Two." },
      ],
    },
  ]);
});

test("an assistant's image becomes a note", () => {
  const blocks = [{ type: "image", data: PNG, mediaType: "image/png" } as const];
  const messages = [said("user", "Draw."), { ...said("assistant", ""), blocks }];
  expect(renderContext(messages, "anthropic").messages[1]).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "[image left out]" }],
  });
});
