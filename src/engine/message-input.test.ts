import { expect, test } from "vitest";
import { draftMessage, type MessageInput } from "./message-input.ts";

test("null stands for tools that are not there, as JSON has it", () => {
  const input = { role: "user", content: "hello", toolCalls: null, toolResults: null };
  const drafts = draftMessage(input as unknown as MessageInput, () => "id", 1);
  expect(drafts.map(({ blocks }) => blocks)).toEqual([[{ type: "text", text: "hello" }]]);
});

test("tools that are no list are refused by name", () => {
  for (const field of ["toolCalls", "toolResults"]) {
    const input = { role: "user", content: "hello", [field]: "" } as unknown as MessageInput;
    expect(() => draftMessage(input, () => "id", 1)).toThrow(field);
  }
});
