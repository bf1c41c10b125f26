import { expect, test } from "vitest";
import type { ContextMessage } from "../chat-model.ts";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for OpenAI's Responses", () => {
  expect(renderContext(STORY, "openai-responses")).toEqual({
    instructions: "Be brief.",
    input: [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "What is in a.txt?" }],
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me look." }],
      },
      {
        type: "function_call",
        call_id: "toolu_1",
        name: "read",
        arguments: '{"path":"a.txt"}',
      },
      {
        type: "function_call",
        call_id: "call20fbf6e6c88",
        name: "shell_run",
        arguments: '{"command":',
      },
      {
        type: "function_call_output",
        call_id: "toolu_1",
        output: [
          { type: "input_text", text: "hello" },
          {
            type: "input_image",
            image_url: `data:image/png;base64,${PNG}`,
            detail: "auto",
          },
        ],
      },
      {
        type: "function_call_output",
        call_id: "call20fbf6e6c88",
        output: "Error: no such command",
      },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { type: "input_text", text: "And?" },
        ],
      },
    ],
  });
});

const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };

function thinking(...rest: ContextMessage["blocks"]): ContextMessage {
  const json = JSON.stringify(REASONING);
  return {
    ...said("assistant", ""),
    blocks: [{ type: "opaque", provider: "openai", json }, ...rest],
    model: "gpt-5",
  };
}

test("reasoning returns as its own item", () => {
  const { input } = renderContext([thinking({ type: "text", text: "Yes." })], "openai-responses");
  expect(input).toEqual([
    REASONING,
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] },
  ]);
});

test("reasoning is dropped with its call", () => {
  const call = { type: "tool_use", id: "x", name: "read", input: "{" } as const;
  const messages = [said("user", "Go."), { ...thinking(call), aborted: true }];
  expect(renderContext(messages, "openai-responses").input).toEqual([
    { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] },
  ]);
});

test("an error with an image has the prefix", () => {
  const image = { type: "image", data: PNG } as const;
  const messages: ContextMessage[] = [
    {
      ...said("assistant", ""),
      blocks: [{ type: "tool_use", id: "x", name: "look", input: "{}" }],
    },
    {
      ...said("tool", ""),
      blocks: [{ type: "tool_result", toolUseId: "x", output: [image], isError: true }],
    },
  ];
  const { input } = renderContext(messages, "openai-responses");
  expect(input[1]).toMatchObject({
    output: [{ type: "input_text", text: "Error:" }, { type: "input_image" }],
  });
});
