import { expect, test } from "vitest";
import { stopWordWeight } from "./stop-words.ts";

test("function words have almost no weight", () => {
  for (const term of ["the", "what", "is"]) {
    expect(stopWordWeight(term, "english")).toBeGreaterThan(0);
    expect(stopWordWeight(term, "english")).toBeLessThan(0.2);
  }
});

test("negations and months have full weight", () => {
  for (const term of ["not", "no", "never", "without", "may", "lock"]) {
    expect(stopWordWeight(term, "english")).toBe(1);
  }
});

test("only English has stop words", () => {
  expect(stopWordWeight("the", "simple")).toBe(1);
});
