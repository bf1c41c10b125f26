import { expect, test } from "vitest";
import type { Act } from "../recap/read-acts.ts";
import { askedBefore } from "./asked.ts";

function said(...texts: readonly string[]): Act[] {
  return texts.map((text, index) => {
    const role = text.startsWith("> ") ? "assistant" : "user";
    return { type: "said", index, role, text: text.replace(/^> /, ""), at: index };
  });
}

test.each<[string, readonly string[], string | undefined]>([
  [
    "the last request",
    ["Name the files.", "Cut the tax of every order line."],
    "Cut the tax of every order line.",
  ],
  [
    "a consent's question",
    ["Look at the tax of orders first.", "> Should I cut the tax of each line?", "yes please"],
    'yes please: "Should I cut the tax of each line?" (after #0: "Look at the tax of orders first.")',
  ],
  [
    "a picked option",
    ["Which ways are there?", "> 1. Cut the tax\n2. Round the sum\n3. Do nothing", "do 1 and 3"],
    'do 1 and 3: "1. Cut the tax", "3. Do nothing" (after #0: "Which ways are there?")',
  ],
  [
    "what was there to commit",
    ["Cut the tax of every order line.", "> Done.", "commit this", "> Done."],
    "Cut the tax of every order line.",
  ],
  [
    "what a short request means",
    ["Cut the tax of every order line.", "> Done.", "fix the test"],
    'fix the test (after #0: "Cut the tax of every order line.")',
  ],
  ["a command without words", ["/review-tax"], "/review-tax"],
  [
    "a command's words, and what it is about",
    ["Cut the tax of every order line.", "> Done.", "/review this branch", "> Done.", "/model x"],
    '/review this branch (after #0: "Cut the tax of every order line.")',
  ],
  [
    "an option that a sentence picks",
    [
      "Cut the tax of every order line.",
      "> #### 1. Rounding (minor)\n2. Labels",
      "the fix for 1 first",
    ],
    'the fix for 1 first: "1. Rounding (minor)" (after #0: "Cut the tax of every order line.")',
  ],
  [
    "an item that is quoted, instead of an option of its number",
    ["> 1. Round the sum", "1. Cut the tax of every order line, then test it"],
    "1. Cut the tax of every order line, then test it",
  ],
  [
    "no option that is left out",
    ["Cut the tax of every order line.", "> 1. Round the sum", "skip 1"],
    'skip 1 (after #0: "Cut the tax of every order line.")',
  ],
  [
    "what was there to push",
    ["Cut the tax of every order line.", "> Done.", "push, raise a draft PR"],
    "Cut the tax of every order line.",
  ],
  [
    "what a question is about",
    ["Cut the tax of every order line.", "> Done.", "why is the tax of the first line a cent off?"],
    'why is the tax of the first line a cent off? (after #0: "Cut the tax of every order line.")',
  ],
  [
    "a request with a placeholder",
    ["Cut the tax, resume <branch> fails with every order line."],
    "Cut the tax, resume <branch> fails with every order line.",
  ],
  [
    "what a pasted log is about",
    ["Cut the tax of every order line.", "> Done.", "2026-01-05T09:00:00 the tax of a line is off"],
    '2026-01-05T09:00:00 the tax of a line is off (after #0: "Cut the tax of every order line.")',
  ],
  [
    "no summary of a compaction",
    ["This session is being continued from a previous conversation that ran out of context."],
    undefined,
  ],
])("%s is what was asked", (_, texts, text) => {
  expect(askedBefore(said(...texts), texts.length)?.text).toBe(text);
});
