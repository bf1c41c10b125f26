import { describe, expect, test } from "vitest";
import type { Block } from "../../model/block.ts";
import { ENTRY_KINDS, type EntryKind, kindRules } from "../../model/entry.ts";
import { type IndexableEntry, indexableText, type ToolIndexing } from "./indexable-text.ts";

function message(blocks: Block[], more: Partial<IndexableEntry> = {}): IndexableEntry {
  return { kind: "message", role: "user", status: "committed", blocks, metadata: {}, ...more };
}

function text(value: string): Block {
  return { type: "text", text: value };
}

const CALL: Block = { type: "tool_use", id: "1", name: "Bash", input: '{"command":"ls"}' };
const RESULT: Block = {
  type: "tool_result",
  toolUseId: "1",
  toolName: "Bash",
  output: [text("a.ts"), { type: "image", data: "AAAA" }],
  isError: false,
};

function parts(entry: IndexableEntry, tools?: ToolIndexing): readonly string[] {
  return indexableText(entry, tools === undefined ? {} : { tools }).parts;
}

describe("the indexed text", () => {
  test("has text and tool names", () => {
    const blocks: Block[] = [
      text("look"),
      { type: "thinking", text: "hmm" },
      CALL,
      { type: "image", data: "AAAA" },
      { type: "opaque", json: "{}" },
    ];
    expect(parts(message(blocks), "names")).toEqual(["look", "Bash"]);
  });

  test("includes tool inputs and outputs by the `tools` option", () => {
    const both = message([CALL, RESULT]);
    expect(parts(both, "names")).toEqual(["Bash", "Bash"]);
    expect(parts(both, "inputs")).toEqual(["Bash", "ls", "Bash"]);
    expect(indexableText(both, { tools: "inputs" }).outputs).toEqual([]);
    expect(indexableText(both)).toMatchObject({
      parts: ["Bash", "ls", "Bash"],
      outputs: ["a.ts"],
    });
  });

  test("exists for indexed kinds of committed entries only", () => {
    for (const kind of Object.keys(ENTRY_KINDS) as EntryKind[]) {
      expect(parts(message([text("x")], { kind })).length > 0).toBe(kindRules(kind).indexed);
    }
    expect(parts(message([text("x")], { status: "pending" }))).toEqual([]);
    expect(parts(message([text("x")], { status: "aborted" }))).toEqual([]);
  });

  test("has no injected text", () => {
    const echo = "why? <system-reminder>echo</system-reminder>";
    expect(parts(message([text(echo)]))[0]).not.toContain("echo");
    expect(parts(message([text(echo)], { role: "assistant" }))[0]).toContain("echo");
    expect(parts(message([text("x")], { metadata: { recalled: true } }))).toEqual([]);
  });

  test("has no secret, even where the limit cuts one in two", () => {
    const secret = "password=hunter2-and-more";
    expect(parts(message([text(`my ${secret}`)]))).toEqual(["my password=[redacted]"]);
    const head = "x ".repeat(32 * 1024 - 8);
    expect(parts(message([text(head + secret)]))[0]).not.toContain("hunter2");
  });

  test("is bounded per block and per message, and cut between code points", () => {
    const long = "😀".repeat(20_000);
    const found = parts(message(Array.from({ length: 6 }, () => text(`a${long}`))));
    const bytes = found.map((part) => Buffer.byteLength(part));
    expect(bytes.slice(0, 4)).toEqual([65_533, 65_533, 65_533, 65_533]);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(256 * 1024);
    expect(found.every((part) => part.isWellFormed())).toBe(true);
  });
});

describe("a message is marked as cut", () => {
  const result = (output: string | Block[], toolName = "Bash"): Block => {
    return { type: "tool_result", toolUseId: "1", toolName, output, isError: false };
  };
  const call = (command: string): Block => {
    return { type: "tool_use", id: "1", name: "Bash", input: JSON.stringify({ command }) };
  };
  const secret = "password=hunter2-and-more";

  test.each<[string, IndexableEntry, boolean]>([
    ["not where all of it is indexed", message([call("ls"), result("a\n \nb")]), false],
    ["not for blank parts", message([text(" "), result([text(""), text("a")])]), false],
    ["not for our own tools", message([result("a", "mcp__backscroll__recall")]), false],
    ["by the middle of an output", message([result("x ".repeat(20_000))]), true],
    ["by the end of a long argument", message([call("x ".repeat(40_000))]), true],
    [
      "by outputs beyond the message's limit",
      message(Array.from({ length: 10 }, () => result("x ".repeat(16_000)))),
      true,
    ],
    ["by a secret", message([result(secret)]), true],
    [
      "by a secret in injected text",
      message([result(`<system-reminder>${secret}</system-reminder>`)]),
      true,
    ],
    ["by data, which is one term", message([result(`${"x/".repeat(150)}go build`)]), true],
    [
      "by tool traffic of an injected message",
      message([result("a")], { metadata: { injected: true } }),
      true,
    ],
    ["not by injected text alone", message([text("a")], { metadata: { injected: true } }), false],
    ["not if it is pending", message([result(secret)], { status: "pending" }), false],
  ])("%s", (_, entry, isCut) => {
    expect(indexableText(entry).isCut).toBe(isCut);
  });

  test("not by injected text of an output, which has words of its own", () => {
    const entry = message([result("a <system-reminder>file is empty</system-reminder> b")]);
    expect(indexableText(entry)).toMatchObject({
      outputs: ["a   b"],
      hidden: ["<system-reminder>file is empty</system-reminder>"],
      isCut: false,
    });
  });
});

describe("the role class", () => {
  const classOf = (entry: IndexableEntry) => indexableText(entry).roleClass;

  test("is the role, or tool for tool traffic alone", () => {
    expect(classOf(message([text("x")]))).toBe("user");
    expect(classOf(message([text("x")], { role: "assistant" }))).toBe("assistant");
    expect(classOf(message([text("x"), CALL], { role: "assistant" }))).toBe("acting");
    expect(classOf(message([CALL], { role: "assistant" }))).toBe("tool");
    expect(classOf(message([RESULT]))).toBe("tool");
    expect(classOf(message([{ type: "thinking", text: "" }, CALL], { role: "assistant" }))).toBe(
      "tool",
    );
    expect(classOf(message([text("x")], { role: "tool" }))).toBe("tool");
    expect(classOf(message([text("x")], { role: "system" }))).toBe("system");
  });
});
