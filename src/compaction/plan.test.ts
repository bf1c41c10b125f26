import { describe, expect, test } from "vitest";
import { COMPACTION } from "../model/compaction-numbers.ts";
import { planCompaction } from "./plan.ts";
import {
  clawKeep,
  HALF_KEEP,
  type KeepStrategy,
  NONE_KEEP,
  type PlanItem,
  type PlanOptions,
  TOKENS_KEEP,
} from "./plan-input.ts";

/**
 * Parses a transcript from one line. `u`, `a` and `s` are messages of user, assistant and system,
 * `n` is an injected note, `c1,2` calls tools with these ids, `r1,2` is one message with their
 * results. `!` pins, `@3` answers message 3 alone, `:500` is the size in tokens (default 100); all
 * of a result can be shortened.
 */
function items(line: string): PlanItem[] {
  return line.split(" ").map((word, i) => {
    const [, letter = "", ids = "", to, pin = "", size = "100"] =
      /^([uasncr])([\d,]*)(?:@(\d+))?(!?)(?::(\d+))?$/.exec(word) ?? [];
    const list = ids === "" ? [] : ids.split(",");
    const results = letter === "r" ? list : [];
    return {
      id: `${i}`,
      sequence: i + 1,
      kind: letter === "n" ? "custom_message" : "message",
      role: ({ u: "user", s: "system", n: "user", r: "tool" } as const)[letter] ?? "assistant",
      tokens: Number(size),
      pinned: pin === "!",
      calls: letter === "c" ? list : [],
      results,
      ...(to === undefined ? {} : { replyTo: to }),
      resultTokens: new Map(results.map((id) => [id, Number(size) / results.length])),
    };
  });
}

function plan(line: string, strategy: KeepStrategy, more: Partial<PlanOptions> = {}) {
  return planCompaction(items(line), {
    strategy,
    summaryTokens: 50,
    previousSummaryTokens: 0,
    ...more,
  });
}

/** The plan as `covered | kept`, pinned ones in brackets, `~` before the rest of a split turn. */
function check(
  line: string,
  strategy: KeepStrategy,
  expected: string,
  more: Partial<PlanOptions> = {},
): void {
  const made = plan(line, strategy, more);
  if ("none" in made) {
    expect(made.none).toBe(expected);
    return;
  }
  const { covered, pinned, firstKeptEntryId, splitTurn } = made.plan;
  const kept = firstKeptEntryId === null ? [] : items(line).slice(Number(firstKeptEntryId));
  const parts = [
    covered.join(" "),
    pinned.length > 0 ? `[${pinned.join(" ")}]` : "",
    splitTurn ? "|~" : "|",
    kept.map(({ id }) => id).join(" "),
  ];
  expect(parts.filter((part) => part !== "").join(" ")).toBe(expected);
}

const messages = (count: number): KeepStrategy => ({ keep: "messages", count });
const tokens = (count: number): KeepStrategy => ({ keep: "tokens", tokens: count });
const HALF = HALF_KEEP.strategy;
const NONE = NONE_KEEP.strategy;

describe("keeping messages", () => {
  test("keeps the last ones", () => {
    check("u a u a u a", messages(4), "0 1 | 2 3 4 5");
    check("u a u a u a", messages(3), "0 1 2 |~ 3 4 5");
  });

  test("moves back to keep a call with its result", () => {
    check("u a u c1 r1 a", messages(2), "0 1 2 |~ 3 4 5");
    check("u c1,2 r1 r2 a u a", messages(4), "0 |~ 1 2 3 4 5 6");
    check("u c1,2 r1,2 a", messages(2), "0 |~ 1 2 3");
  });

  test("moves forward where moving back would leave nothing to cover", () => {
    check("c1,2,3 r1 r2 r3 a u a", messages(5), "0 1 2 3 |~ 4 5 6");
    check("c1 r1 c2 r2", messages(3), "0 1 |~ 2 3");
    check("c1,2 r1 r2", messages(1), "0 1 2 |");
  });

  test("counts messages only", () => {
    check("u a n u n a", messages(2), "0 1 2 | 3 4 5");
    check("u a n u a", messages(2), "0 1 2 | 3 4");
    check("u a u n a", messages(1), "0 1 2 3 |~ 4");
  });

  test("gives no plan if all messages are kept", () => {
    check("u a u a", messages(4), "nothing_before_cut");
    check("u a u a", messages(9), "nothing_before_cut");
  });
});

describe("keeping tokens", () => {
  test("keeps the newest that reach the budget", () => {
    check("u a u a u a", tokens(400), "0 1 | 2 3 4 5");
    check("u a u a u a", tokens(301), "0 1 | 2 3 4 5");
  });

  test("splits a turn that is too long to be kept whole", () => {
    check("u a u:900 a a a", tokens(300), "0 1 2 |~ 3 4 5");
    check("u a u c1 r1 c2 r2 c3 r3 a", tokens(300), "0 1 2 3 4 5 6 |~ 7 8 9");
  });

  test("keeps a turn whole if that takes a quarter of the budget more", () => {
    check("u a u a u a u a u a", tokens(500), "0 1 2 3 | 4 5 6 7 8 9");
    check("u a u a u:126 a u a u a", tokens(500), "0 1 2 3 4 |~ 5 6 7 8 9");
  });

  test("takes the next legal cut after the budget, else the one before", () => {
    check("u a u c1 r1:400 a u a", tokens(500), "0 1 2 3 4 |~ 5 6 7");
    check("u a u c1,2 r1:9000 r2:9000", tokens(500), "0 1 2 |~ 3 4 5");
  });

  test("covers some messages even if the newest results exceed the budget", () => {
    check("u c1,2,3 r1:9000 r2:9000 r3:9000", tokens(500), "0 |~ 1 2 3 4");
    check("c1 r1:9000", tokens(500), "0 1 |");
  });

  test("gives no plan if everything fits", () => {
    check("u a u a", tokens(400), "nothing_before_cut");
    check("u a u a", tokens(20_000), "nothing_before_cut");
    check("a:9000", tokens(500), "nothing_before_cut");
  });
});

describe("keeping half, or nothing", () => {
  test("half is rounded in favour of the kept part, but covers at least one", () => {
    check("u a u a u", HALF, "0 1 | 2 3 4");
    check("u a u", HALF, "0 |~ 1 2");
    check("a", HALF, "0 |");
    check("u c1 r1 a u a", HALF, "0 1 2 |~ 3 4 5");
    check("u c1,2 r1 r2 a u", HALF, "0 |~ 1 2 3 4 5");
  });

  test("half counts the messages that can be covered", () => {
    check("u! u! u! u! u a u a", HALF, "4 5 [0 1 2 3] | 6 7");
  });

  test("none keeps nothing", () => {
    check("u a u a", NONE, "0 1 2 3 |");
    check("u a u a", messages(0), "0 1 2 3 |");
    check("u a u a", tokens(0), "0 1 2 3 |");
  });
});

describe("a pending turn", () => {
  test("stays: a user message without an answer", () => {
    check("u a u", NONE, "0 1 | 2");
    check("u a u n", NONE, "0 1 | 2 3");
    check("u a u s", messages(0), "0 1 | 2 3");
    check("u c1 u r1", NONE, "0 |~ 1 2 3");
  });

  test("stays: calls without results", () => {
    check("u a u c1", NONE, "0 1 2 |~ 3");
    check("u c1,2 r2", NONE, "0 |~ 1 2");
    check("u c1,2,3 r2 r1", HALF, "0 |~ 1 2 3");
  });

  test("is the newest unanswered message", () => {
    check("u a u u", NONE, "0 1 2 | 3");
    check("u u u", NONE, "0 1 | 2");
  });

  test("stays while another agent's later answer is covered", () => {
    check("u a u u a@2", NONE, "0 1 2 4 [3] |");
    check("u u c1@0 r1 c2@0 r2 a@0 u", NONE, "0 2 3 4 5 6 [1] | 7");
    check("u a@9", NONE, "1 [0] |");
    check("u u a@0 a@1", NONE, "0 1 2 3 |");
    check("u u a@0 a", NONE, "0 1 2 3 |");
  });

  test("ends when a later message has been answered", () => {
    check("u u a@1 u", NONE, "0 1 2 | 3");
  });

  test("ends when it is answered, or when the user continues", () => {
    check("u c1 r1", NONE, "0 1 2 |");
    check("u c1 u a", NONE, "0 1 2 3 |");
    check("u c1 u", NONE, "0 1 | 2");
  });

  test("alone gives no plan", () => {
    check("u", NONE, "nothing_before_cut");
    check("c1 r1 u", messages(9), "nothing_before_cut");
    check("c1,2 r1", HALF, "nothing_before_cut");
  });
});

describe("pinned entries", () => {
  test("stay at any position", () => {
    check("u! a u a u a", messages(2), "1 2 3 [0] | 4 5");
    check("u a u a! u a", messages(2), "0 1 2 [3] | 4 5");
    check("u a u a u! a", messages(2), "0 1 2 3 | 4 5");
  });

  test("keep their tool group, and no other entry", () => {
    check("u c1,2 r1! r2 a u a", messages(2), "0 4 [1 2 3] | 5 6");
    check("u c1! r1 c2 r2 a u a", messages(2), "0 3 4 5 [1 2] | 6 7");
    check("c1 u! r1 a u a", messages(2), "0 2 3 [1] | 4 5");
    check("c1! u r1 a u a", messages(2), "1 3 [0 2] | 4 5");
  });

  test("can leave nothing to cover", () => {
    check("u! a! u! a!", NONE, "nothing_before_cut");
    check("u! a! u a", messages(2), "nothing_before_cut");
  });
});

describe("odd transcripts", () => {
  test("are planned like ordinary ones", () => {
    expect(
      planCompaction([], { strategy: NONE, summaryTokens: 0, previousSummaryTokens: 0 }),
    ).toEqual({
      none: "empty",
    });
    check("r1 r2 u a", messages(2), "0 1 | 2 3");
    check("r1 r2 r3 r4", messages(2), "0 1 |~ 2 3");
    check("c1 r1 c1 r1 c1 r1", messages(3), "0 1 |~ 2 3 4 5");
    check("u c1 a r1 r1 a", messages(2), "0 1 2 3 |~ 4 5");
  });
});

describe("thresholds", () => {
  const claw = { minMessages: 4, minTokens: 10_000 };

  test("need more messages, and at least as many tokens", () => {
    expect(clawKeep(COMPACTION.claw.messages, COMPACTION.claw.tokens)).toEqual({
      strategy: messages(4),
      ...claw,
    });
    expect(TOKENS_KEEP).toEqual({ strategy: tokens(20_000) });
    check("u a u a:10000", messages(4), "below_threshold", claw);
    check("u a u a u:9599", messages(4), "below_threshold", claw);
    check("u a u a u:9600", messages(4), "0 |~ 1 2 3 4", claw);
  });

  test("exclude pinned messages", () => {
    check("u! a u a u:9600", messages(4), "below_threshold", claw);
  });
});

describe("figures", () => {
  test("include the gain", () => {
    const made = plan("u! a u a:300 u a", messages(2), { previousSummaryTokens: 70 });
    expect(made).toEqual({
      plan: {
        covered: ["1", "2", "3"],
        pinned: ["0"],
        from: "1",
        through: "3",
        throughSequence: 4,
        firstKeptEntryId: "4",
        splitTurn: false,
        cuts: [],
        tokensBefore: 870,
        tokensAfter: 350,
        gainTokens: 520,
      },
    });
  });

  test("of ten thousand items give the start of the kept part", () => {
    const line = items(Array.from({ length: 2_500 }, () => "u c1,2 r1:900 r2").join(" "));
    const made = planCompaction(line, {
      strategy: tokens(20_000),
      limitTokens: 9_000,
      summaryTokens: 500,
      previousSummaryTokens: 0,
    });
    const kept = "plan" in made ? made.plan.firstKeptEntryId : null;
    const first = line.findIndex(({ id }) => id === kept);
    expect(first).toBeGreaterThan(9_900);
    expect(line[first]?.role).toBe("user");
  });
});
