import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputTextOf, type ToolUseBlock } from "./block.ts";
import type { JsonValue } from "./json.ts";
import { givenInputText, readableBlock, withInputText } from "./tool-input.ts";

function stored(input: string): ToolUseBlock {
  return { type: "tool_use", id: "1", name: "bash", input };
}

describe("a stored call, read", () => {
  test("has its arguments as an object, without the text if printing gives it", () => {
    expect(readableBlock(stored('{"command":"ls","n":[1]}'))).toEqual({
      ...stored(""),
      input: { command: "ls", n: [1] },
    });
  });

  test.each(['{ "a": 1 }', '{"n":12345678901234567890}', '{"a":1,"a":2}', "[1, 2]"])(
    "keeps the text of %s, which printing would change",
    (text) => {
      const block = readableBlock(stored(text)) as ToolUseBlock;
      expect(block).toMatchObject({ input: JSON.parse(text), inputText: text });
      expect(inputTextOf(block)).toBe(text);
    },
  );

  test.each(["", "ls -l", '{"a":', '"text"', "17", "null"])("keeps %j as text", (text) => {
    expect(readableBlock(stored(text))).toEqual(stored(text));
  });
});

test("an input that is read and written again is stored unchanged", () => {
  const texts = fc.oneof(
    fc.json(),
    fc.json().map((json) => ` ${json} `),
    fc.string(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const { input, inputText } = readableBlock(stored(text)) as ToolUseBlock;
      expect(givenInputText(input, inputText, (value) => JSON.stringify(value))).toBe(text);
    }),
  );
});

test("a text that contradicts the object is ignored", () => {
  const print = (value: unknown) => JSON.stringify(value as JsonValue);
  expect(givenInputText({ a: 2 }, '{ "a": 1 }', print)).toBe('{"a":2}');
  expect(givenInputText({ a: 1 }, "no JSON", print)).toBe('{"a":1}');
  expect(givenInputText({ a: 1 }, 17, print)).toBe('{"a":1}');
});

test("replaced arguments drop the old text", () => {
  const read = readableBlock(stored('{ "a": 1 }')) as ToolUseBlock;
  expect(withInputText(read, '{"b":2}')).toEqual(stored('{"b":2}'));
});
