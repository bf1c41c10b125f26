import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionPolicy } from "../after-turn/auto-compaction.ts";
import {
  type AutoPolicy,
  CLAW_VARIABLE,
  clawPolicy,
  effectiveReserve,
  nonePolicy,
  piPolicy,
  toAutoPolicy,
  turnsPolicy,
} from "./auto-policy.ts";
import { type CompactionFigures, decide } from "./decide.ts";

const QUIET: CompactionFigures = {
  contextTokens: 0,
  estimated: false,
  contextWindow: 200_000,
  billedInputTokens: 0,
  unsummarized: { turns: 0, tokens: 0 },
  messagesSinceAttempt: null,
  lastInputTokens: null,
};

function reason(policy: AutoPolicy, figures: Partial<CompactionFigures>): string {
  const { compact, reason: why } = decide(policy, { ...QUIET, ...figures });
  return `${compact ? "yes" : "no"}: ${why}`;
}

describe("none", () => {
  test("never compacts, however full the context is", () => {
    expect(reason(nonePolicy(), { contextTokens: 10 ** 9 })).toBe("no: disabled");
  });
});

describe("claw", () => {
  const claw = clawPolicy({}, {});

  test("compacts when the context reaches 200,000 tokens", () => {
    expect(reason(claw, { contextTokens: 199_999 })).toBe("no: below_threshold");
    expect(reason(claw, { contextTokens: 200_000 })).toBe("yes: over_threshold");
  });

  test("counts the input of all calls only if told to", () => {
    const billed = { billedInputTokens: 300_000, contextTokens: 5_000 };
    expect(reason(claw, billed)).toBe("no: below_threshold");
    const cumulative = clawPolicy({ metric: "cumulative" }, {});
    expect(reason(cumulative, billed)).toBe("yes: over_threshold");
    expect(reason(cumulative, { ...billed, messagesSinceAttempt: 2 })).toBe("no: cooling_down");
  });

  test.each([
    ["100000", 100_000],
    [" 150000 ", 150_000],
    ["0", 200_000],
    ["-5", 200_000],
    ["", 200_000],
    ["many", 200_000],
    ["100k", 200_000],
    ["1e5", 200_000],
    ["1.5", 200_000],
    ["99999999999999999999", 200_000],
    [undefined, 200_000],
  ])("with %j in the environment the threshold is %d", (text, tokens) => {
    expect(clawPolicy({}, { [CLAW_VARIABLE]: text }).inputTokens).toBe(tokens);
  });
});

describe("pi", () => {
  test("compacts when less is free than the reserve, raised to its floor", () => {
    expect(reason(piPolicy(), { contextTokens: 180_000 })).toBe("no: below_threshold");
    expect(reason(piPolicy(), { contextTokens: 180_001 })).toBe("yes: over_threshold");
    const bare = piPolicy({ reserveTokensFloor: 0 });
    expect(reason(bare, { contextTokens: 183_616 })).toBe("no: below_threshold");
    expect(reason(bare, { contextTokens: 183_617 })).toBe("yes: over_threshold");
  });

  test("a reserve that is larger than the window takes half of it", () => {
    expect(effectiveReserve(piPolicy(), 8_192)).toBe(4_096);
    const small = { contextWindow: 8_192 };
    expect(reason(piPolicy(), { ...small, contextTokens: 4_096 })).toBe("no: below_threshold");
    expect(reason(piPolicy(), { ...small, contextTokens: 4_097 })).toBe("yes: over_threshold");
  });

  test("reports the compared numbers", () => {
    expect(decide(piPolicy(), { ...QUIET, contextTokens: 190_000 })).toEqual({
      compact: true,
      reason: "over_threshold",
      policy: "pi",
      numbers: {
        contextTokens: 190_000,
        threshold: 180_000,
        contextWindow: 200_000,
        reserveTokens: 20_000,
      },
    });
  });
});

describe("turns", () => {
  test.each([
    [50, 8_000, "no: below_threshold"],
    [51, 10, "yes: over_turns"],
    [2, 8_001, "yes: over_tokens"],
  ])("with %d turns and %d tokens: %s", (turns, tokens, expected) => {
    expect(reason(turnsPolicy(), { unsummarized: { turns, tokens } })).toBe(expected);
  });

  test("a session overrides the triggers, or switches them off", () => {
    const own = (compaction: unknown) =>
      sessionPolicy(turnsPolicy(), { compaction } as { compaction: never });
    expect(own({ triggerTurns: 5 }).policy).toEqual(turnsPolicy({ triggerTurns: 5 }));
    expect(own({ strategy: "never" }).policy).toEqual(nonePolicy());
    expect(own({ enabled: false }).policy).toEqual(nonePolicy());
    const wrong = own({ triggerTurns: "soon" });
    expect(wrong.policy).toEqual(turnsPolicy());
    expect(wrong.problems).toHaveLength(1);
    expect(sessionPolicy(piPolicy(), { compaction: { triggerTurns: 5 } }).policy).toEqual(
      piPolicy(),
    );
  });
});

test("every policy but none compacts after a silent overflow", () => {
  const figures = { lastInputTokens: 200_001, messagesSinceAttempt: 4 };
  for (const name of ["claw", "pi", "turns"] as const) {
    expect(reason(toAutoPolicy(name), figures)).toBe("yes: silent_overflow");
    // A window that is set too small would otherwise compact at every turn.
    const again = { ...figures, messagesSinceAttempt: 2 };
    expect(reason(toAutoPolicy(name), again)).toBe("no: cooling_down");
  }
  expect(reason(nonePolicy(), figures)).toBe("no: disabled");
});

test("a decision to compact never comes within the cool-down", () => {
  const figures = fc.record({
    contextTokens: fc.nat(400_000),
    estimated: fc.boolean(),
    contextWindow: fc.integer({ min: 1, max: 400_000 }),
    billedInputTokens: fc.nat(10 ** 7),
    unsummarized: fc.record({ turns: fc.nat(200), tokens: fc.nat(50_000) }),
    messagesSinceAttempt: fc.option(fc.nat(10)),
    lastInputTokens: fc.option(fc.nat(400_000)),
  });
  const policies = [piPolicy(), turnsPolicy(), clawPolicy({ metric: "cumulative" }, {})];
  fc.assert(
    fc.property(figures, fc.constantFrom(...policies), (given, policy) => {
      const { compact, reason: why } = decide(policy, given);
      const cooling = (given.messagesSinceAttempt ?? 99) < policy.cooldownMessages;
      expect(compact && cooling).toBe(false);
      if (why === "cooling_down") expect(cooling).toBe(true);
    }),
  );
});
