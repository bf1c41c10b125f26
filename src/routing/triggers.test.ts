import { expect, test } from "vitest";
import { DEFAULT_RESET_TRIGGERS, matchTrigger } from "./resets.ts";

test.each([
  ["/new", ""],
  [" /NEW ", ""],
  ["/reset", ""],
  ["/new What is Up?", "What is Up?"],
  ["/new\nline one\n  line two", "line one\n  line two"],
  ["/newer", undefined],
  ["/new-thing", undefined],
  ["say /new", undefined],
  ["", undefined],
])("%j", (text, rest) => {
  expect(matchTrigger(text, DEFAULT_RESET_TRIGGERS)?.rest).toBe(rest);
});

test("triggers are configurable, may have several words, and the longest counts", () => {
  const triggers = ["start", "Start Over", " "];
  expect(matchTrigger("start over Please", triggers)).toEqual({
    trigger: "Start Over",
    rest: "Please",
  });
  expect(matchTrigger("start overture", triggers)).toEqual({ trigger: "start", rest: "overture" });
  expect(matchTrigger("/new", triggers)).toBeUndefined();
});
