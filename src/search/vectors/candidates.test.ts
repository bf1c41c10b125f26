import { expect, test } from "vitest";
import { randomNumbers } from "../../../bench/synthetic.ts";
import { Candidates } from "./candidates.ts";

/** The places of the largest estimates; of equal ones, the first. */
function bySorting(estimates: readonly number[], room: number): number[] {
  return estimates
    .map((estimate, place) => ({ estimate, place }))
    .sort((a, b) => b.estimate - a.estimate || a.place - b.place)
    .slice(0, room)
    .map(({ place }) => place)
    .sort((a, b) => a - b);
}

function byScanning(estimates: readonly number[], room: number): number[] {
  const candidates = new Candidates(room);
  for (const [place, estimate] of estimates.entries()) {
    if (estimate > candidates.threshold) candidates.add(estimate, place);
  }
  return [...candidates.places()];
}

test.each([0, 1, 7, 8, 9, 15, 16, 17, 500])("the largest of %d estimates stay", (count) => {
  const random = randomNumbers(count);
  for (const steps of [1, 4, 64, 2 ** 20]) {
    const estimates = Array.from(
      { length: count },
      () => Math.floor(random() * steps) / steps - 0.5,
    );
    expect(byScanning(estimates, 8)).toEqual(bySorting(estimates, 8));
  }
});

test("the order of the estimates does not matter", () => {
  const ascending = Array.from({ length: 100 }, (_, i) => i / 128);
  expect(byScanning(ascending, 8)).toEqual([92, 93, 94, 95, 96, 97, 98, 99]);
  expect(byScanning(ascending.toReversed(), 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
