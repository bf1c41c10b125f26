import { describe, expect, test } from "vitest";
import { BackscrollError } from "../model/errors.ts";
import { normalizeContent, normalizeToolCalls, normalizeToolResult } from "./normalize.ts";

function check(content: unknown, expected: unknown): void {
  expect(normalizeContent(content)).toEqual(expected);
}

/** `error` is the code and the field that the error names. */
function refuses(content: unknown, error: string): void {
  try {
    normalizeContent(content);
  } catch (reason) {
    if (!BackscrollError.is(reason)) throw reason;
    expect(`${reason.code} ${reason.details["field"]}`).toBe(error);
    expect(reason.message).toContain(String(reason.details["field"]));
    return;
  }
  throw new Error(`${JSON.stringify(content)} was accepted`);
}

describe("normalizeContent", () => {
  test("makes one text block of a string", () => {
    check("hello", [{ type: "text", text: "hello" }]);
    check(" ", [{ type: "text", text: " " }]);
  });

  test("accepts the providers' dialects", () => {
    check(
      [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "tool_use", id: "1", name: "read", input: { path: "a" } },
        { type: "tool_use", id: "2", name: "now" },
        { type: "tool_use", id: "3", name: "raw", input: '{"n":1e999}' },
        { type: "tool_result", tool_use_id: "1", content: "text", is_error: true },
        {
          type: "tool_result",
          toolUseId: "2",
          toolName: "now",
          output: [{ type: "text", text: "t" }],
        },
        { type: "tool_result", tool_use_id: "3", tool_name: "raw", content: { a: 1 } },
        { type: "image", mediaType: "image/png", data: "aGk=" },
        { type: "image", media_type: "image/png", url: "https://a.example/b.png" },
      ],
      [
        { type: "thinking", text: "hm", signature: "c2ln" },
        { type: "tool_use", id: "1", name: "read", input: '{"path":"a"}' },
        { type: "tool_use", id: "2", name: "now", input: "{}" },
        { type: "tool_use", id: "3", name: "raw", input: '{"n":1e999}' },
        { type: "tool_result", toolUseId: "1", output: "text", isError: true },
        {
          type: "tool_result",
          toolUseId: "2",
          toolName: "now",
          output: [{ type: "text", text: "t" }],
          isError: false,
        },
        { type: "tool_result", toolUseId: "3", toolName: "raw", output: '{"a":1}', isError: false },
        { type: "image", mediaType: "image/png", data: "aGk=" },
        { type: "image", mediaType: "image/png", url: "https://a.example/b.png" },
      ],
    );
  });

  test("is idempotent", () => {
    const once = normalizeContent([
      { type: "tool_result", tool_use_id: "1", content: [{ type: "thinking", thinking: "x" }] },
      { type: "server_tool_use", id: "9", input: { deep: [1, { a: null }] } },
      { type: "text", text: "t", cache_control: { type: "ephemeral" } },
    ]);
    expect(normalizeContent(once)).toEqual(once);
  });

  test("keeps a block of an unknown type as its JSON", () => {
    const block = { type: "redacted_thinking", data: "…", nested: { order: 1, kept: [true] } };
    check([block], [{ type: "opaque", json: JSON.stringify(block) }]);
    const inherited = { type: "constructor" };
    check([inherited], [{ type: "opaque", json: JSON.stringify(inherited) }]);
    check([{ type: "__proto__" }], [{ type: "opaque", json: '{"type":"__proto__"}' }]);
  });

  test("keeps fields that it does not know", () => {
    check(
      [{ type: "text", text: "a", citations: [{ page: 1 }], gone: undefined }],
      [{ type: "text", text: "a", citations: [{ page: 1 }] }],
    );
    check(
      [{ type: "tool_use", id: "1", name: "n", input: "{}", caller: { type: "direct" } }],
      [{ type: "tool_use", id: "1", name: "n", input: "{}", caller: { type: "direct" } }],
    );
  });

  test("refuses empty content", () => {
    for (const empty of ["", []]) refuses(empty, "invalid_input content");
    for (const wrong of [undefined, null, 5, true, {}, new Map()]) {
      refuses(wrong, "invalid_input content");
    }
  });

  test("names the field that is wrong", () => {
    refuses(["text"], "invalid_input content[0]");
    refuses([{ type: "text", text: "a" }, null], "invalid_input content[1]");
    refuses([{}], "invalid_input content[0].type");
    refuses([{ type: 5 }], "invalid_input content[0].type");
    refuses([{ type: "text" }], "invalid_input content[0].text");
    refuses([{ type: "text", text: 5 }], "invalid_input content[0].text");
    refuses([{ type: "thinking" }], "invalid_input content[0].text");
    refuses([{ type: "tool_use", name: "n" }], "invalid_input content[0].id");
    refuses([{ type: "tool_use", id: "1" }], "invalid_input content[0].name");
    refuses(
      [{ type: "tool_use", id: "1", name: "n", input: { n: 1n } }],
      "invalid_input content[0].input.n",
    );
    refuses([{ type: "tool_result", output: "x" }], "invalid_input content[0].toolUseId");
    refuses(
      [{ type: "tool_result", toolUseId: "1", output: [{ type: "text" }] }],
      "invalid_input content[0].output[0].text",
    );
    refuses([{ type: "image", url: 5 }], "invalid_input content[0].url");
    refuses([{ type: "image", media_type: 5 }], "invalid_input content[0].media_type");
    refuses([{ type: "opaque" }], "invalid_input content[0].json");
    refuses([{ type: "text", text: "a", extra: () => 1 }], "invalid_input content[0].extra");
    refuses([{ type: "unknown", at: new Date() }], "invalid_input content[0].at");
  });

  test("bounds the number of blocks", () => {
    const blocks = (count: number) =>
      Array.from({ length: count }, () => ({ type: "text", text: "a" }));
    expect(normalizeContent(blocks(2_000))).toHaveLength(2_000);
    refuses(blocks(2_001), "too_large content");
  });
});

describe("tool calls and results beside the content", () => {
  test("become blocks", () => {
    const calls = [
      { id: "1", name: "a", input: { x: 1 } },
      { id: "2", name: "b", arguments: '{"y":2}' },
      { id: "3", name: "c" },
    ];
    expect(normalizeToolCalls(calls, "toolCalls")).toEqual([
      { type: "tool_use", id: "1", name: "a", input: '{"x":1}' },
      { type: "tool_use", id: "2", name: "b", input: '{"y":2}' },
      { type: "tool_use", id: "3", name: "c", input: "{}" },
    ]);
    const result = { id: "1", name: "a", output: "done", isError: true };
    expect(normalizeToolResult(result, "toolResults[0]")).toEqual({
      type: "tool_result",
      toolUseId: "1",
      toolName: "a",
      output: "done",
      isError: true,
    });
  });
});
