import { describe, expect, test } from "vitest";
import type { Entry } from "../model/entry.ts";
import { type AssembledContext, assembleContext, type ContextExtras } from "./build.ts";
import { type ContextLimits, chooseWindow, type WindowSources } from "./choose-window.ts";
import { calls, pathOf, results, says } from "./entries.cases.ts";
import { TOKEN_ESTIMATE } from "./tokens.ts";

type Sources = WindowSources & ContextExtras;

const NO_SOURCES: Sources = {
  pinned: [],
  summary: null,
  facts: [],
  recalled: [],
  entries: [],
  unread: 0,
};

/** The built context, or the needed tokens if pinned entries do not fit. */
function build(sources: Sources, limits: ContextLimits): AssembledContext | { needed: number } {
  const window = chooseWindow(sources, limits);
  return "needed" in window ? window : assembleContext(window, sources);
}

function assemble(
  sources: Partial<Sources>,
  tokenBudget: number,
  recentTurns = 20,
): AssembledContext {
  const limits = { tokenBudget, recentTurns, counter: TOKEN_ESTIMATE };
  const assembled = build({ ...NO_SOURCES, ...sources }, limits);
  if ("needed" in assembled) throw new Error(`needs ${assembled.needed}`);
  return assembled;
}

/** Each part with its entry, in order: `recent:e1`. */
function parts({ messages }: AssembledContext): string[] {
  return messages.map(({ part, entryIds }) => `${part}:${entryIds.join("+")}`);
}

/** `count` turns of a question and an answer, each of `tokens` tokens. */
function turns(count: number, tokens = 100): Entry[] {
  const text = "x".repeat((tokens - 1) * 4);
  return pathOf(
    ...Array.from({ length: count }, () => [says("user", text), says("assistant", text)]).flat(),
  );
}

const FACTS = ["f1", "f2", "f3"].map((id) => ({
  id,
  sessionId: "s",
  subject: "the build",
  predicate: "uses",
  object: "x".repeat(200),
  sourceEntry: "e1",
  confidence: 1,
  createdAt: 0,
  supersededBy: null,
}));

const RECALLED = ["r1", "r2"].map((entryId) => ({
  entryId,
  sessionId: "s",
  role: "user" as const,
  actor: "ana",
  createdAt: 0,
  own: true,
  text: "y".repeat(400),
}));

const SUMMARY = { entryId: "c1", text: "z".repeat(400) };

describe("the order", () => {
  test("puts stable parts first, and recalled messages right before the newest turn", () => {
    const sources = {
      pinned: pathOf(says("system", "be kind", { id: "p1" })),
      summary: SUMMARY,
      facts: FACTS,
      recalled: RECALLED,
      entries: turns(2),
    };
    expect(parts(assemble(sources, 10_000))).toEqual([
      "pinned:p1",
      "summary:c1",
      "facts:f1+f2+f3",
      "recent:e1",
      "recent:e2",
      "recalled:r1+r2",
      "recent:e3",
      "recent:e4",
    ]);
  });
});

describe("over budget", () => {
  const all = { summary: SUMMARY, facts: FACTS, recalled: RECALLED, entries: turns(3) };
  const whole = assemble(all, 100_000).tokens;

  test("recalled messages yield first, then facts and older turns, then the summary", () => {
    const seen: string[] = [];
    for (let budget = whole + 40; budget >= 256; budget--) {
      const context = assemble(all, budget);
      expect(context.tokens).toBeLessThanOrEqual(budget);
      const shape = parts(context)
        .join(" ")
        .replaceAll(/recent:e\d/g, "turn");
      if (seen.at(-1) !== shape) seen.push(shape);
    }
    const parted = seen.map((shape) => shape.replaceAll("turn turn", "turn"));
    expect(parted.slice(0, 3)).toEqual([
      "summary:c1 facts:f1+f2+f3 turn turn recalled:r1+r2 turn",
      "summary:c1 facts:f1+f2+f3 turn turn recalled:r1 turn",
      "summary:c1 facts:f1+f2+f3 turn turn turn",
    ]);
    expect(parted.at(-1)).toBe("turn");
    const turnsShown = parted.map((shape) => shape.split("turn").length - 1);
    expect(turnsShown).toEqual(turnsShown.toSorted((a, b) => b - a));
    const withSummary = parted.map((shape) => shape.startsWith("summary"));
    expect(withSummary.lastIndexOf(true)).toBeLessThan(withSummary.indexOf(false));
  });

  test("omitted entries are listed with the reason", () => {
    const context = assemble({ ...all, unread: 7 }, 570, 2);
    expect(context.omitted).toEqual([
      { part: "facts", reason: "budget", count: 3, tokens: null, ids: ["f1", "f2", "f3"] },
      { part: "recent", reason: "recent_turns", count: 7, tokens: null, ids: [] },
      { part: "recent", reason: "recent_turns", count: 2, tokens: 200, ids: ["e1", "e2"] },
      { part: "recalled", reason: "budget", count: 2, tokens: null, ids: ["r1", "r2"] },
    ]);
  });

  test("long results of the newest turn are cut before its text", () => {
    const entries = pathOf(
      says("user", "read both"),
      calls("a", "b"),
      results({ a: "A".repeat(40_000), b: "B".repeat(400) }),
      says("assistant", "done"),
    );
    const context = assemble({ entries }, 1_000);
    expect(context.shortened).toBe(1);
    expect(context.tokens).toBeLessThanOrEqual(1_000);
    expect(context.tokens).toBeGreaterThan(900);
    const output = context.messages[2]?.blocks.map((block) =>
      block.type === "tool_result" ? block.output : "",
    );
    expect(output?.[0]).toMatch(
      /^A+\n\[… \d+ of 40000 characters left out; to read them: list_messages around e3 …]\nA+$/,
    );
    expect(output?.[1]).toBe("B".repeat(400));
  });
});

describe("the window over the past", () => {
  test("moves in hops, so that the beginning of the prompt stays for many turns", () => {
    const path = turns(200);
    const begins: (string | undefined)[] = [];
    for (let length = 100; length <= 200; length++) {
      const entries = path.slice(Math.max(0, 2 * length - 60), 2 * length);
      const context = assemble({ entries, unread: 1 }, 100_000);
      expect(context.messages.filter(({ role }) => role === "user").length).toBeLessThanOrEqual(20);
      begins.push(context.messages[0]?.entryIds[0]);
    }
    // 8 turns make 16 messages: of a hundred turns, about every eighth moves the window.
    expect(new Set(begins).size).toBeLessThanOrEqual(14);
  });

  test("begins with a user's message and splits no tool pair", () => {
    const turn = (n: number) => [
      says("user", `question ${n} `.repeat(40)),
      calls(`a${n}`, `b${n}`),
      results({ [`a${n}`]: "1" }),
      results({ [`b${n}`]: "2" }),
      says("assistant", "answer"),
    ];
    const entries = pathOf(...[1, 2, 3, 4, 5, 6].flatMap(turn));
    for (let budget = 160; budget < 1_200; budget += 17) {
      const { messages } = assemble({ entries }, budget);
      expect(messages[0]?.role).toBe("user");
      expect(messages.length % 5).toBe(0);
    }
  });
});
