import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSplit, joinSaid, splitSaid } from "./said.ts";

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
        const split = splitSaid(content);
        if (split === undefined) return;
        expect(joinSaid(split)).toBe(content);
        expect(isSplit(split.said) && !isSplit(content)).toBe(true);
        expect(JSON.parse(split.said)).toEqual(
          JSON.parse(JSON.stringify(all.filter(({ type }) => type === "text"))),
        );
      }),
    );
  });

  test("stays in the row", () => {
    const said = { type: "text", text: 'He said "\\", twice.' };
    const rest = { type: "thinking", text: "hm" };
    expect(splitSaid(JSON.stringify([rest, said, rest, said]))).toEqual({
      said: ` ${JSON.stringify([said, said])}`,
      rest: `[${JSON.stringify(rest)},\u0001,${JSON.stringify(rest)},\u0001]`,
    });
  });

  test("is left unsplit if the rest is short, or the split ambiguous", () => {
    const said = { type: "text", text: "yes" };
    const whole = [
      [said],
      [{ type: "thinking", text: "hm" }],
      [said, { type: "text", text: { blob: "x", head: "y" } }],
      [said, { type: "text", extra: 1, text: "more" }],
      [said, { type: "tool_result", output: [said] }],
    ];
    for (const each of whole) expect(splitSaid(JSON.stringify(each))).toBeUndefined();
    const beside = { blocks: [said, { type: "thinking", text: "hm" }], data: { raw: [said] } };
    expect(splitSaid(JSON.stringify(beside))).toBeUndefined();
  });
});
