import { expect, test } from "vitest";
import type { ContextMessage } from "./chat-model.ts";
import { type ToolFilter, toolNames, toolPicker } from "./prune.ts";

function check(filter: ToolFilter | undefined, names: string): void {
  const picked = ["read", "Read_File", "shell.run", "a+b", ""].filter(toolPicker(filter));
  expect(picked.join(" ")).toBe(names);
}

test("without patterns all tools match", () => {
  check(undefined, "read Read_File shell.run a+b ");
  check({ allow: [], deny: [] }, "read Read_File shell.run a+b ");
});

test("a star matches any text, and other characters match themselves", () => {
  check({ allow: ["read*"] }, "read Read_File");
  check({ allow: ["*.run", "a+b"] }, "shell.run a+b");
  check({ allow: ["shell?run", "a.b", "re"] }, "");
  check({ allow: ["*"] }, "read Read_File shell.run a+b ");
});

test("deny takes precedence over allow", () => {
  check({ deny: ["*_file"] }, "read shell.run a+b ");
  check({ allow: ["read*"], deny: ["READ"] }, "Read_File");
});

test("a result's tool is named by the result or by its call", () => {
  const messages: ContextMessage[] = [
    {
      role: "assistant",
      actor: null,
      blocks: [{ type: "tool_use", id: "x", name: "read", input: "{}" }],
      part: "recent",
      entryIds: [],
      model: null,
    },
  ];
  const nameOf = toolNames(messages);
  const result = { type: "tool_result", toolUseId: "x", output: "", isError: false } as const;
  expect(nameOf(result)).toBe("read");
  expect(nameOf({ ...result, toolName: "write" })).toBe("write");
  expect(nameOf({ ...result, toolUseId: "y" })).toBe("");
});
