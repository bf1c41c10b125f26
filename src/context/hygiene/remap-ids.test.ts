import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { remapIds, uniqueIds } from "./repairs.ts";
import type { IdRule } from "./rules.ts";
import type { Turn } from "./turn.ts";

const WORD: IdRule = { characters: "word", maxLength: 20, exactLength: false };
const NINE: IdRule = { characters: "alphanumeric", maxLength: 9, exactLength: true };

describe("uniqueIds", () => {
  test("keeps valid ids", () => {
    expect(uniqueIds(["call_1", "toolu-2"], WORD)).toEqual(["call_1", "toolu-2"]);
    expect(uniqueIds(["abcdefgh1"], NINE)).toEqual(["abcdefgh1"]);
  });

  test("keeps the head of an invalid id, with a hash after it", () => {
    expect(uniqueIds(["call|fc.1"], WORD)).toEqual(["callfc1bb8c802a95"]);
    expect(uniqueIds(["x".repeat(21)], WORD)[0]).toMatch(/^x{10}[0-9a-f]{10}$/);
  });

  test("makes exactly nine characters where nine are required", () => {
    for (const id of uniqueIds(["call_1", "abcdefgh", "abcdefghij", "呼"], NINE)) {
      expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    }
  });

  test("makes repeated ids distinct and keeps the first", () => {
    const [first, second, third] = uniqueIds(["a", "a", "a"], WORD);
    expect([first, new Set([first, second, third]).size]).toEqual(["a", 3]);
  });

  test("makes no id that is used elsewhere, also later", () => {
    const [made = ""] = uniqueIds(["call 1"], WORD);
    const [other, kept] = uniqueIds(["call 1", made], WORD);
    expect(kept).toBe(made);
    expect(other).not.toBe(made);
  });

  test("does not change an id when entries are appended", () => {
    const ids = fc.array(fc.constantFrom("a", "b", "a b", "x".repeat(30), "呼"), { maxLength: 12 });
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const all = uniqueIds([...before, ...after], WORD);
        expect(all.slice(0, before.length)).toEqual(uniqueIds(before, WORD));
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});

test("calls and their results get the same ids", () => {
  const turn = (ids: string[]): Turn[] => [
    {
      role: "assistant",
      blocks: ids.map((id) => ({ type: "tool_use", id, name: "read", input: "{}" })),
      aborted: false,
    },
    {
      role: "tool",
      results: ids.map((toolUseId) => ({
        type: "tool_result",
        toolUseId,
        toolName: "read",
        isError: false,
        output: [{ type: "text", text: "done" }],
      })),
    },
  ];
  const turns = remapIds([...turn(["a", "a", "b c"]), ...turn(["a"])], WORD);
  const ids = turns.map((each) =>
    each.role === "tool"
      ? each.results.map((result) => result.toolUseId)
      : each.blocks.map((block) => (block.type === "tool_use" ? block.id : "")),
  );
  expect(ids[0]).toEqual(ids[1]);
  expect(ids[2]).toEqual(ids[3]);
  expect(new Set([...(ids[0] ?? []), ...(ids[2] ?? [])]).size).toBe(4);
});
