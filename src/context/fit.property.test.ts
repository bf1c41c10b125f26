/**
 * Any conversation under any budget gives a valid context within it; without recall, a larger
 * budget never gives less.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderedTokens } from "../../bench/rendered-tokens.ts";
import { VIOLATIONS } from "../../test/support/provider-rules/index.ts";
import { repeats } from "../../test/support/repeats.ts";
import type { Block } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { type AssembledContext, assembleContext, countFacts } from "./build.ts";
import type { ContextMessage } from "./chat-model.ts";
import { chooseWindow, type WindowSources } from "./choose-window.ts";
import { calls, pathOf, results, says } from "./entries.cases.ts";
import { PROVIDERS, renderContext } from "./render/render.ts";
import { TOKEN_ESTIMATE } from "./tokens.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const FACTS = ["f1", "f2"].map((id) => ({
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

type Sources = Partial<WindowSources> & { readonly facts?: typeof FACTS };

function build(sources: Sources, tokenBudget: number): AssembledContext {
  const { facts = [], ...rest } = sources;
  const window = chooseWindow(
    { pinned: [], summary: null, entries: [], unread: 0, ...rest },
    {
      tokenBudget,
      recentTurns: 20,
      counter: TOKEN_ESTIMATE,
      factTokens: countFacts(facts, TOKEN_ESTIMATE),
    },
  );
  if ("needed" in window) throw new Error(`needs ${window.needed}`);
  return assembleContext(window, { facts, recalled: [] });
}

/** The note in place of a cut: it may have more bytes than the text that it replaces, if fewer tokens. */
const CUT_NOTE = /\[… [^…]* …\]/g;

/** The messages, and the bytes that are kept of them. */
function sizeOf(messages: readonly ContextMessage[]): [number, number] {
  const bytes = messages.map(({ blocks }) =>
    Buffer.byteLength(JSON.stringify(blocks).replace(CUT_NOTE, "")),
  );
  return [messages.length, bytes.reduce((sum, each) => sum + each, 0)];
}

/** Valid for every provider, and within the budget when rendered. */
function check(sources: Sources, budget: number): AssembledContext {
  const context = build(sources, budget);
  expect(context.tokens).toBeLessThanOrEqual(budget);
  for (const provider of PROVIDERS) {
    const rendered = renderContext(context.messages, provider);
    expect(VIOLATIONS[provider](rendered), provider).toEqual([]);
    expect(renderedTokens(rendered), provider).toBeLessThanOrEqual(budget);
  }
  return context;
}

function checkPair(sources: Sources, one: number, other: number): void {
  const [small, large] = [Math.min(one, other), Math.max(one, other)];
  const [fewer, less] = sizeOf(check(sources, small).messages);
  const [more, larger] = sizeOf(check(sources, large).messages);
  expect(more).toBeGreaterThanOrEqual(fewer);
  if (more === fewer) expect(larger).toBeGreaterThanOrEqual(less);
}

const text = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.constantFrom(
    "日本語の質問。",
    "😀",
    "",
    "x".repeat(3_000),
    "é😀".repeat(900),
    "a b ".repeat(90),
  ),
);
let made = 0;
const step = fc
  .record({
    tools: fc.array(fc.record({ output: text, has: fc.boolean() }), { maxLength: 6 }),
    said: text,
    thinks: fc.boolean(),
    shows: fc.boolean(),
  })
  .map(({ tools, said, thinks, shows }): Partial<Entry>[] => {
    const ids = tools.map(() => `c${++made}`);
    const thought: Block = { type: "thinking", text: "hm ".repeat(50), signature: "c2lnbmVk" };
    const image: Block = { type: "image", data: PNG, mediaType: "image/png" };
    const uses = ids.map(
      (id, i): Block => ({
        type: "tool_use",
        id,
        name: "read",
        input: JSON.stringify({ path: tools[i]?.output.slice(0, 400) }),
      }),
    );
    const blocks: Block[] = [...(thinks ? [thought] : []), { type: "text", text: said }, ...uses];
    const given = tools.flatMap(({ output, has }, i): [string, string][] =>
      has ? [[ids[i] ?? "", output]] : [],
    );
    return [
      { role: "assistant", blocks },
      ...(given.length === 0 ? [] : [results(Object.fromEntries(given))]),
      ...(shows
        ? [{ role: "user" as const, blocks: [image, { type: "text" as const, text: said }] }]
        : []),
    ];
  });
const session = fc
  .array(fc.record({ asked: fc.boolean(), ask: text, steps: fc.array(step, { maxLength: 5 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((turns) =>
    pathOf(
      ...turns.flatMap(({ asked, ask, steps }) => [
        ...(asked ? [says("user", ask)] : []),
        ...steps.flat(),
      ]),
    ),
  );
const budget = fc.oneof(
  fc.integer({ min: 256, max: 1_500 }),
  fc.integer({ min: 256, max: 20_000 }),
);

test("any session under any two budgets gives valid contexts within them, monotonic in the budget", () => {
  fc.assert(
    fc.property(session, budget, budget, fc.boolean(), fc.nat(3), (entries, a, b, facts, told) => {
      const summary = told === 0 ? null : { entryId: "s1", text: "so far. ".repeat(told * 120) };
      checkPair({ entries, summary, facts: facts ? FACTS : [] }, a, b);
    }),
    { numRuns: repeats(120, 4_000) },
  );
});

describe("every budget from the smallest on gives a valid context", () => {
  const cases: Readonly<Record<string, Sources>> = {
    "a huge turn": {
      entries: pathOf(
        says("user", "do it ".repeat(400)),
        ...Array.from({ length: 60 }, (_, i) => [
          calls(`h${i}`),
          results({ [`h${i}`]: `out ${i} `.repeat(300) }),
        ]).flat(),
        says("assistant", "done ".repeat(500)),
      ),
    },
    "many calls at once": {
      entries: pathOf(
        says("user", "all of them"),
        calls(...Array.from({ length: 50 }, (_, i) => `p${i}`)),
        results(
          Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`p${i}`, "y".repeat(900)])),
        ),
      ),
    },
    "a huge text of one user": { entries: pathOf(says("user", "é😀x".repeat(40_000))) },
    "only results": {
      entries: pathOf(results({ lost1: "z".repeat(9_000) }), results({ lost2: "the end" })),
    },
    "a huge summary": {
      summary: { entryId: "s1", text: "and then ".repeat(9_000) },
      entries: pathOf(says("user", "go on"), says("assistant", "yes")),
    },
    "a huge turn before a short one": {
      entries: pathOf(
        says("user", "read"),
        calls("b1"),
        results({ b1: "k".repeat(90_000) }),
        says("user", "thanks"),
      ),
    },
    "a pinned result that is cut": {
      pinned: pathOf(
        { ...calls("q"), id: "p1", pinned: true },
        { ...results({ q: "r".repeat(9_000) }), id: "p2", pinned: true },
      ),
      entries: pathOf(says("user", "go on")),
    },
  };
  test.each(Object.entries(cases))("%s", (_, sources) => {
    let before = [0, 0];
    for (const tokens of [256, 300, 500, 1_000, 4_000, 16_000, 64_000]) {
      const { messages } = check(sources, tokens);
      expect(messages.length).toBeGreaterThan(0);
      const [count = 0, bytes = 0] = sizeOf(messages);
      expect(count).toBeGreaterThanOrEqual(before[0] ?? 0);
      if (count === before[0]) expect(bytes).toBeGreaterThanOrEqual(before[1] ?? 0);
      before = [count, bytes];
    }
  });
});

test("pinned text is never cut: its size alone is the minimum budget", () => {
  const pinned = pathOf(says("user", "rule ".repeat(1_000), { pinned: true }));
  const limits = { recentTurns: 20, counter: TOKEN_ESTIMATE };
  const sources = { pinned, summary: null, entries: pathOf(says("user", "hi")), unread: 0 };
  const small = chooseWindow(sources, { ...limits, tokenBudget: 1_000 });
  if (!("needed" in small)) throw new Error("it fits");
  const enough = chooseWindow(sources, { ...limits, tokenBudget: small.needed });
  expect("needed" in enough).toBe(false);
});

test("the note of a cut gives the missing amount and the entry", () => {
  const entries = pathOf(
    says("user", "do it"),
    ...Array.from({ length: 40 }, (_, i) => says("assistant", `step ${i} ${"w".repeat(300)}`)),
  );
  const { messages, omitted } = build({ entries }, 500);
  const note = messages[1]?.blocks[0];
  expect(note?.type === "text" && note.text).toMatch(
    /^\[… \d+ messages left out; to read on from there: list_messages around e2 …]$/,
  );
  expect(omitted[0]).toMatchObject({ part: "recent", reason: "budget" });
  expect(messages.length - 1 + (omitted[0]?.count ?? 0)).toBe(41);
});
