import { expect, test } from "vitest";
import type { Rule } from "../model/note.ts";
import { orderRules, replacesRule } from "./compare-rules.ts";

function rule(text: string, saidAt = 1): Rule {
  const scope = { project: "/shop", owner: null, replaces: null };
  const source = { sessionId: "s", sourceEntry: "e", source: "s#1" };
  return { id: text, text, status: "candidate", ...scope, ...source, saidAt };
}

test.each([
  ["Always indent with tabs.", "From now on indent with spaces."],
  ["Always use tabs for indentation in Rust", "Use spaces for indentation from now on"],
  ["Always push to main", "Never push to main"],
  ["Always answer in German", "Always answer in English"],
  ["Keep lines under 80 characters everywhere", "Keep lines under 100 characters everywhere"],
])("%s: replaced by the later: %s", (earlier, later) => {
  expect(replacesRule(rule(later, 2), rule(earlier, 1))).toBe(true);
  expect(replacesRule(rule(later, 1), rule(earlier, 2))).toBe(false);
});

test.each([
  [
    "Always include code examples when I ask about APIs",
    "Always include status codes when I ask about APIs",
  ],
  ["Always use tabs in Rust files", "Always use spaces in Python files"],
  ["Always use sigma notation for sums", "Always use matrix notation for systems"],
  ["Never commit to main", "Always run the tests first"],
  ["Always answer in German", "always answer in German."],
])("%s: holds beside: %s", (earlier, later) => {
  expect(replacesRule(rule(later, 2), rule(earlier, 1))).toBe(false);
});

test("rules that bear on the question come first, then the newest", () => {
  const rules = [
    rule("Never commit to main", 1),
    rule("Always include version numbers when I ask about libraries", 2),
    rule("I prefer short answers", 3),
  ];
  const order = orderRules(rules, "Which library do you suggest?").map(({ saidAt }) => saidAt);
  expect(order).toEqual([2, 3, 1]);
});
