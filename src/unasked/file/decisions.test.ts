import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { reasonFinder } from "./decisions.ts";

test("changed lines are read once for all messages, however many they are", () => {
  const lock = Array.from({ length: 40_000 }, (_, i) => `"integrity": "sha-${i}", "size": ${i}`);
  const reasonsIn = reasonFinder([...lock, "const rate = rateOfCountry(order);"].join("\n"));
  const text = "I keep rateOfCountry, because countries differ. Then all of it is tested again.";
  let found = 0;
  expect(
    cpuMs(() => {
      for (let i = 0; i < 1_000; i++) found += reasonsIn(text).length;
    }),
  ).toBeLessThan(2_000);
  expect(found).toBe(1_000);
});
