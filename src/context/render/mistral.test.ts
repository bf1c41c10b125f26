import { expect, test } from "vitest";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for Mistral", () => {
  expect(renderContext(STORY, "mistral")).toEqual({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is in a.txt?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          {
            id: "49dceb447",
            type: "function",
            function: { name: "read", arguments: '{"path":"a.txt"}' },
          },
          {
            id: "0fbf6e6c8",
            type: "function",
            function: { name: "shell_run", arguments: '{"command":' },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: "49dceb447",
        name: "read",
        content: "hello\n\n[image: see the next message]",
      },
      {
        role: "tool",
        tool_call_id: "0fbf6e6c8",
        name: "shell_run",
        content: "Error: no such command",
      },
      { role: "assistant", content: "(Received.)" },
      {
        role: "user",
        content: [
          { type: "text", text: "[images of the tool results above, in order]" },
          { type: "image_url", image_url: `data:image/png;base64,${PNG}` },
          { type: "text", text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { type: "text", text: "And?" },
        ],
      },
    ],
  });
});

test("a user is first, and neighbours of one role are merged", () => {
  const messages = [said("assistant", "One."), said("assistant", "Two."), said("user", "Three.")];
  expect(renderContext(messages, "mistral").messages).toEqual([
    { role: "user", content: "(The conversation continues.)" },
    { role: "assistant", content: "One.\n\nTwo." },
    { role: "user", content: "Three." },
  ]);
});
