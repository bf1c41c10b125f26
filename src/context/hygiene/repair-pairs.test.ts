import { describe, expect, test } from "vitest";
import { MISSING_RESULT, repairPairs } from "./repairs.ts";
import { callsOf, type SentCall, type SentResult, type Turn } from "./turn.ts";

/**
 * Parses turns from words: `u` a user, `a` an assistant, `!` an aborted one, `t` a tool, each
 * followed by the ids of its calls or results. A result's text is its id and a counter, `x1`.
 */
function turns(words: string): Turn[] {
  const times = new Map<string, number>();
  return words.split(" ").map((word): Turn => {
    const ids = [...word.slice(1)];
    if (word.startsWith("u")) return { role: "user", blocks: [{ type: "text", text: "hi" }] };
    if (word.startsWith("t")) {
      return {
        role: "tool",
        results: ids.map((id) => {
          times.set(id, (times.get(id) ?? 0) + 1);
          return result(id, `${id}${times.get(id)}`);
        }),
      };
    }
    return { role: "assistant", blocks: ids.map(call), aborted: word.startsWith("!") };
  });
}

function call(id: string): SentCall {
  return { type: "tool_use", id, name: `tool ${id}`, input: "{}" };
}

function result(toolUseId: string, text: string): SentResult {
  const output = [{ type: "text" as const, text }];
  return { type: "tool_result", toolUseId, toolName: "", output, isError: false };
}

/** Repaired turns as words: the ids of calls, the texts of results, `?` for a placeholder. */
function check(words: string, expected: string): void {
  const repaired = repairPairs(turns(words)).map((turn) => {
    if (turn.role === "user") return "u";
    if (turn.role === "assistant") {
      return `a${callsOf(turn)
        .map(({ id }) => id)
        .join("")}`;
    }
    return `t${turn.results.map(shown).join("")}`;
  });
  expect(repaired.join(" ")).toBe(expected);
}

function shown({ output, isError }: SentResult): string {
  const [part] = output;
  const text = part?.type === "text" ? part.text : "";
  return isError && text === MISSING_RESULT ? "?" : text;
}

describe("repairPairs", () => {
  test("keeps complete pairs", () => {
    check("u ax tx u", "u ax tx1 u");
  });

  test("orders the results of parallel calls as the calls, from one message or several", () => {
    check("u axyz tzxy", "u axyz tx1y1z1");
    check("u axyz tz ty tx", "u axyz tx1y1z1");
  });

  test("moves a late result behind its call", () => {
    check("ax u ay ty tx", "ax tx1 u ay ty1");
  });

  test("adds an error result to a call without one", () => {
    check("axy tx u", "axy tx1? u");
    check("ax", "ax t?");
  });

  test("drops second results, results without a call and results before their call", () => {
    check("ax tx tx ty", "ax tx1");
    check("tx ax", "ax t?");
  });

  test("drops the open calls of an aborted turn, and the turn if it becomes empty", () => {
    check("u !xy tx u", "u ax tx1 u");
    check("u !x u", "u u");
  });

  test("matches a result to the nearest call of a reused id", () => {
    check("ax tx u ax tx", "ax tx1 u ax tx2");
    check("ax u ax tx", "ax t? u ax tx1");
    check("ax tx ax tx tx", "ax tx1 ax tx2");
  });

  test("matches the results of one id in one turn to its calls in order", () => {
    check("axx txx", "axx tx1x2");
    check("axx tx", "axx tx1?");
  });

  test("takes the tool's name from its call, and puts calls after text", () => {
    const said = { type: "text", text: "so" } as const;
    const turn: Turn = { role: "assistant", blocks: [call("x"), said], aborted: false };
    expect(repairPairs([turn, { role: "tool", results: [result("x", "1")] }])).toEqual([
      { role: "assistant", blocks: [said, call("x")], aborted: false },
      { role: "tool", results: [{ ...result("x", "1"), toolName: "tool x" }] },
    ]);
  });
});
