import { expect, test } from "vitest";
import { MAX_BATCH_BYTES } from "../model/limits.ts";
import { checkBatch, draftMessage, type MessageInput } from "./message-input.ts";

test("null means absent for tools, as in JSON", () => {
  const input = { role: "user", content: "hello", toolCalls: null, toolResults: null };
  const drafts = draftMessage(input as unknown as MessageInput, () => "id", 1);
  expect(drafts.map(({ blocks }) => blocks)).toEqual([[{ type: "text", text: "hello" }]]);
});

test("tools that are not a list are refused by name", () => {
  for (const field of ["toolCalls", "toolResults"]) {
    const input = { role: "user", content: "hello", [field]: "" } as unknown as MessageInput;
    expect(() => draftMessage(input, () => "id", 1)).toThrow(field);
  }
});

test("a batch counts its metadata, and a kilobyte for the other fields of each entry", () => {
  const draft = (content: string, metadata: Record<string, string> = {}) =>
    draftMessage({ role: "user", content, metadata }, () => "id", 1).map(({ entry }) => entry);
  const half = "x".repeat(MAX_BATCH_BYTES / 2 - 2_048);
  expect(() => checkBatch([...draft(half), ...draft(half)])).not.toThrow();
  const noted = draft(half, { note: "x".repeat(4_096) });
  expect(() => checkBatch([...draft(half), ...noted])).toThrow(String(MAX_BATCH_BYTES));
});
