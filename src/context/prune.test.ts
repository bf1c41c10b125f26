import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, ToolResultBlock } from "../model/block.ts";
import type { ContextMessage } from "./chat-model.ts";
import { CLEARED_RESULT, type PruneOptions, pruneToolResults } from "./prune.ts";

/**
 * Parses messages: `u` a user, `a` an assistant with a call, `t` its result of the given length.
 */
function context(...turns: string[]): ContextMessage[] {
  return turns.map((turn, i) => {
    const [kind, size] = [turn[0], Number(turn.slice(1))];
    if (kind === "t") return message("tool", [result(`c${i - 1}`, "x".repeat(size))]);
    if (kind === "u") return message("user", [{ type: "text", text: "go on" }]);
    return message("assistant", [{ type: "tool_use", id: `c${i}`, name: "read", input: "{}" }]);
  });
}

function message(role: ContextMessage["role"], blocks: Block[]): ContextMessage {
  return { role, actor: null, blocks, part: "recent", entryIds: [], model: null };
}

function result(toolUseId: string, output: string | Block[]): ToolResultBlock {
  return { type: "tool_result", toolUseId, output, isError: false };
}

/** The fate of each result: its length if it stayed, else the action. */
function check(messages: ContextMessage[], options: PruneOptions, expected: unknown[]): void {
  const outputs = pruneToolResults(messages, options).flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.output] : [])),
  );
  expect(outputs.map(shown)).toEqual(expected);
}

function shown(output: string | readonly Block[]): string | number {
  if (output === CLEARED_RESULT) return CLEARED;
  return String(output).includes("[Tool result shortened") ? TRIMMED : output.length;
}

const CLEARED = "cleared";
const TRIMMED = "shortened";
const LATER = ["a", "a", "a"];

describe("pruneToolResults", () => {
  test("leaves a window below 30 % unchanged", () => {
    const messages = context("u", "a", "t12000", ...LATER);
    check(messages, { windowTokens: 10_011 }, [12_000]);
    check(messages, { windowTokens: 10_010 }, [TRIMMED]);
  });

  test("uses the given token count over its own", () => {
    const messages = context("u", "a", "t12000", ...LATER);
    check(messages, { windowTokens: 1_000, usedTokens: 299 }, [12_000]);
    check(messages, { windowTokens: 1_000, usedTokens: 300 }, [TRIMMED]);
  });

  test("shows head, tail and size of a shortened result", () => {
    const text = `${"a".repeat(1_500)}${"b".repeat(5_000)}${"c".repeat(1_500)}`;
    const messages = [
      ...context("u", "a"),
      message("tool", [result("c1", text)]),
      ...context(...LATER),
    ];
    const [, , shortened] = pruneToolResults(messages, { windowTokens: 100 });
    expect(shortened?.blocks).toEqual([
      result(
        "c1",
        `${"a".repeat(1_500)}\n...\n${"c".repeat(1_500)}\n\n[Tool result shortened: its first 1500 and last 1500 of 8000 characters.]`,
      ),
    ]);
  });

  test("shortens only results of more than 4,000 characters", () => {
    const options = { windowTokens: 5_000 };
    check(context("u", "a", "t4000", "a", "t4001", ...LATER), options, [4_000, TRIMMED]);
  });

  test("clears the oldest first, until half of the window is free", () => {
    const many = Array.from({ length: 20 }, () => ["a", "t4000"]).flat();
    // 80,000 characters of results; a call has two, the question five.
    const cleared = [...Array(10).fill(CLEARED), ...Array(10).fill(4_000)];
    check(context("u", ...many, ...LATER), { windowTokens: 20_210 }, cleared);
  });

  test("clears nothing while less than 50,000 characters could be freed", () => {
    const some = (count: number) => Array.from({ length: count }, () => ["a", "t4000"]).flat();
    const full = { windowTokens: 100 };
    check(context("u", ...some(12), ...LATER), full, Array(12).fill(4_000));
    check(context("u", ...some(13), ...LATER), full, Array(13).fill(CLEARED));
  });

  test("keeps a result that is shorter than its placeholder", () => {
    const many = Array.from({ length: 13 }, () => ["a", "t4000"]).flat();
    const cleared = [2, ...Array(13).fill(CLEARED)];
    check(context("u", "a", "t2", ...many, ...LATER), { windowTokens: 100 }, cleared);
  });

  test("computes the possible gain after shortening", () => {
    const long = Array.from({ length: 16 }, () => ["a", "t60000"]).flat();
    check(context("u", ...long, ...LATER), { windowTokens: 100 }, Array(16).fill(TRIMMED));
  });

  test("protects the last three assistant messages, and prunes nothing where there are fewer", () => {
    const full = { windowTokens: 100 };
    check(context("u", "a", "t9000", "a", "t9000"), full, [9_000, 9_000]);
    check(context("u", "a", "t9000", "a", "t9000", "a", "t9000"), full, [9_000, 9_000, 9_000]);
    check(context("u", "a", "t9000", "a", "t9000", "a", "a"), full, [TRIMMED, 9_000]);
  });

  test("keeps everything before the first user message", () => {
    const full = { windowTokens: 100 };
    check(context("a", "t9000", "u", "a", "t9000", ...LATER), full, [9_000, TRIMMED]);
    const asUser = message("user", [result("c0", "x".repeat(9_000))]);
    check([...context("a"), asUser, ...context("u", ...LATER)], full, [9_000]);
    check(context("a", "t9000", ...LATER), full, [9_000]);
  });

  test("leaves results with images and pinned messages as they are", () => {
    const image: Block = { type: "image", data: "AAAA", mediaType: "image/png" };
    const text: Block = { type: "text", text: "x".repeat(9_000) };
    const shown = message("tool", [result("c1", [text, image])]);
    const pinned = {
      ...message("tool", [result("c1", "x".repeat(9_000))]),
      part: "pinned" as const,
    };
    const messages = [...context("u", "a"), shown, pinned, ...context(...LATER)];
    expect(pruneToolResults(messages, { windowTokens: 100 })).toEqual(messages);
  });

  test("counts an image as 8,000 characters", () => {
    const image: Block = { type: "image", url: "https://example.com/a.png" };
    const messages = [message("user", [image]), ...context("a", "t5000", ...LATER)];
    const used = 8_000 + 5_000 + 4 * 2;
    check(messages, { windowTokens: Math.ceil(used / 4 / 0.3) + 1 }, [5_000]);
    check(messages, { windowTokens: Math.floor(used / 4 / 0.3) }, [TRIMMED]);
  });

  test("prunes tools by pattern: allowed and not denied", () => {
    const full = (allow: string[], deny: string[]) => ({
      windowTokens: 100,
      tools: { allow, deny },
    });
    const messages = context("u", "a", "t9000", ...LATER);
    check(messages, full([], []), [TRIMMED]);
    check(messages, full(["RE*"], []), [TRIMMED]);
    check(messages, full(["*"], ["r*d"]), [9_000]);
    check(messages, full(["rea"], []), [9_000]);
    check(messages, full(["r.ad"], []), [9_000]);
  });

  test("splits no surrogate pair, keeps its input unchanged and never grows a context", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "語", "😀"),
      minLength: 3_990,
      maxLength: 9_000,
    });
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 6 }),
        fc.integer({ min: 1, max: 9_000 }),
        (all, max) => {
          const messages = [
            ...context("u"),
            ...all.flatMap((output) => [...context("a"), message("tool", [result("c0", output)])]),
            ...context(...LATER),
          ];
          const copy = structuredClone(messages);
          const pruned = pruneToolResults(messages, { windowTokens: max });
          expect(messages).toEqual(copy);
          expect(JSON.stringify(pruned).length).toBeLessThanOrEqual(JSON.stringify(copy).length);
          expect(JSON.stringify(pruned)).not.toMatch(/\\ud[89a-f]/);
          expect(pruneToolResults(pruned, { windowTokens: max * 1_000_000 })).toEqual(pruned);
        },
      ),
      { numRuns: 50 },
    );
  });
});
