import { describe, expect, test } from "vitest";
import { countErrors } from "./misspelt.ts";

describe("countErrors", () => {
  test.each([
    ["webhook", "webhook", 0],
    ["webhok", "webhook", 1],
    ["webhoook", "webhook", 1],
    ["wevhook", "webhook", 1],
    ["wehbook", "webhook", 1],
    ["webohok", "webhook", 1],
    ["certifcte", "certificate", 2],
  ])("from %s to %s: %i", (a, b, errors) => {
    expect(countErrors(a, b, 2)).toBe(errors);
  });

  test("stops counting beyond the limit", () => {
    expect(countErrors("goroutine", "gorilla", 2)).toBe(3);
    expect(countErrors("cat", "catalogue", 1)).toBe(2);
  });
});
