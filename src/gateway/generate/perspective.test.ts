import { describe, expect, test } from "vitest";
import type { ContextMessage } from "../../context/chat-model.ts";
import type { Block } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { seenBy } from "./read-context.ts";

function say(role: Role, actor: string | null, ...blocks: (string | Block)[]): ContextMessage {
  const made = blocks.map((b): Block => (typeof b === "string" ? { type: "text", text: b } : b));
  return { role, actor, blocks: made, part: "recent", entryIds: [], model: null };
}

const use = (id: string): Block => ({ type: "tool_use", id, name: "bash", input: "{}" });
const result = (id: string): Block => ({
  type: "tool_result",
  toolUseId: id,
  output: "ok",
  isError: false,
});

function check(me: string, messages: readonly ContextMessage[], expected: readonly string[]): void {
  const seen = seenBy(messages, me).map(({ role, blocks }) => {
    const parts = blocks.map((b) => (b.type === "text" ? b.text : b.type));
    return `${role}: ${parts.join(" + ")}`;
  });
  expect(seen).toEqual(expected);
}

describe("an agent's perspective", () => {
  test("of a conversation with one person is unchanged", () => {
    const talk = [say("user", "ana", "Hi."), say("assistant", "coder", "Hello.", use("a"))];
    expect(seenBy([...talk, say("tool", "bash", result("a"))], "coder")).toEqual([
      ...talk,
      say("tool", "bash", result("a")),
    ]);
  });

  test("shows another agent as a user, by name, without its tool calls", () => {
    const talk = [
      say("user", "ana", "Fix it."),
      say("assistant", "coder", "I look.", use("a")),
      say("tool", "bash", result("a")),
      say("assistant", "coder", "Fixed."),
    ];
    check("reviewer", talk, [
      "user: [ana] Fix it.",
      "user: [coder] I look.",
      "user: [coder] Fixed.",
    ]);
    check("coder", talk, [
      "user: Fix it.",
      "assistant: I look. + tool_use",
      "tool: tool_result",
      "assistant: Fixed.",
    ]);
  });

  test("attributes a result to the last caller of its id", () => {
    const talk = [
      say("assistant", "coder", use("call_1")),
      say("tool", "bash", result("call_1")),
      say("assistant", "reviewer", use("call_1")),
      say("tool", "bash", result("call_1")),
    ];
    check("coder", talk, ["assistant: tool_use", "tool: tool_result"]);
    check("reviewer", talk, ["assistant: tool_use", "tool: tool_result"]);
  });

  test("of several people has their names", () => {
    const talk = [
      say("user", "ana", "One."),
      say("user", "bo", "Two."),
      say("user", null, "Three."),
    ];
    check("coder", talk, ["user: [ana] One.", "user: [bo] Two.", "user: Three."]);
  });

  test("leaves a message without an actor as it is", () => {
    check(
      "coder",
      [say("system", null, "Rules."), say("assistant", null, "Old.")],
      ["system: Rules.", "assistant: Old."],
    );
  });

  test("leaves out another agent's messages that only call tools", () => {
    check("reviewer", [say("assistant", "coder", use("a")), say("tool", "bash", result("a"))], []);
  });
});
