import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSplit, joinTextBlocks, splitTextBlocks } from "./text-blocks.ts";

const text = fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary" }) });
const call = fc.record({
  type: fc.constant("tool_use"),
  name: fc.constantFrom("read", '{"type":"text","text":"'),
  input: fc.json(),
});
const thought = fc.record({ type: fc.constant("thinking"), text: fc.string() });
const blocks = fc.array(fc.oneof(text, call, thought));

describe("message text", () => {
  test("and the rest join to the same content, byte for byte", () => {
    fc.assert(
      fc.property(blocks, fc.option(fc.jsonValue()), (all, data) => {
        const content = JSON.stringify(data === null ? all : { blocks: all, data });
        const split = splitTextBlocks(content);
        if (split === undefined) return;
        expect(joinTextBlocks(split)).toBe(content);
        expect(isSplit(split.texts) && !isSplit(content)).toBe(true);
        expect(JSON.parse(split.texts)).toEqual(
          JSON.parse(JSON.stringify(all.filter(({ type }) => type === "text"))),
        );
      }),
    );
  });

  test("stays in the row", () => {
    const texts = { type: "text", text: 'He said "\\", twice.' };
    const rest = { type: "thinking", text: "hm" };
    expect(splitTextBlocks(JSON.stringify([rest, texts, rest, texts]))).toEqual({
      texts: ` ${JSON.stringify([texts, texts])}`,
      rest: `[${JSON.stringify(rest)},\u0001,${JSON.stringify(rest)},\u0001]`,
    });
  });

  test("is left unsplit if the rest is short, or the split ambiguous", () => {
    const texts = { type: "text", text: "yes" };
    const whole = [
      [texts],
      [{ type: "thinking", text: "hm" }],
      [texts, { type: "text", text: { blob: "x", head: "y" } }],
      [texts, { type: "text", extra: 1, text: "more" }],
      [texts, { type: "tool_result", output: [texts] }],
    ];
    for (const each of whole) expect(splitTextBlocks(JSON.stringify(each))).toBeUndefined();
    const beside = { blocks: [texts, { type: "thinking", text: "hm" }], data: { raw: [texts] } };
    expect(splitTextBlocks(JSON.stringify(beside))).toBeUndefined();
  });
});
