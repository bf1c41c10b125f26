import { expect, test } from "vitest";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for OpenAI's Chat Completions", () => {
  expect(renderContext(STORY, "openai-chat")).toEqual({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is in a.txt?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          {
            id: "toolu_1",
            type: "function",
            function: { name: "read", arguments: '{"path":"a.txt"}' },
          },
          {
            id: "call|2",
            type: "function",
            function: { name: "shell_run", arguments: '{"command":' },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: "toolu_1",
        content: "hello\n\n[image: see the next message]",
      },
      { role: "tool", tool_call_id: "call|2", content: "Error: no such command" },
      {
        role: "user",
        content: [
          { type: "text", text: "[images of the tool results above, in order]" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "text", text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { type: "text", text: "And?" },
        ],
      },
    ],
  });
});

test("neighbouring texts are one string, and an assistant may be first", () => {
  const messages = [said("assistant", "One."), said("user", "Two."), said("user", "Three.")];
  expect(renderContext(messages, "openai-chat")).toEqual({
    messages: [
      { role: "assistant", content: "One." },
      { role: "user", content: "Two.\n\nThree." },
    ],
  });
});

test("a call without text has no content, and its arguments are unchanged", () => {
  const input = '{"n": 12345678901234567890, "n": 1}';
  const blocks = [{ type: "tool_use", id: "x", name: "read", input } as const];
  const [message] = renderContext([{ ...said("assistant", ""), blocks }], "openai-chat").messages;
  expect(message).toEqual({
    role: "assistant",
    content: null,
    tool_calls: [{ id: "x", type: "function", function: { name: "read", arguments: input } }],
  });
});

test("an error whose text says so gets no second prefix", () => {
  const messages = [
    {
      ...said("assistant", ""),
      blocks: [{ type: "tool_use", id: "x", name: "read", input: "{}" } as const],
    },
    {
      ...said("tool", ""),
      blocks: [
        { type: "tool_result", toolUseId: "x", output: "Error: denied", isError: true } as const,
      ],
    },
  ];
  const { messages: rendered } = renderContext(messages, "openai-chat");
  expect(rendered[1]).toEqual({ role: "tool", tool_call_id: "x", content: "Error: denied" });
});
