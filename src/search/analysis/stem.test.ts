import fc from "fast-check";
import { expect, test } from "vitest";
import { repeats } from "../../../test/support/repeats.ts";
import { ENGLISH } from "./morphology.ts";
import { stem } from "./stem.ts";

test.each([
  ["migrate migrates migrated migrating migration migrations"],
  ["configure configures configured configuring configuration"],
  ["authenticate authenticated authentication"],
  ["create creates created creating creation"],
  ["delete deleting deletion"],
  ["cache caches cached caching"],
  ["run runs running"],
  ["hope hopes hoped hoping"],
  ["hop hops hopped hopping"],
  ["try tries tried trying"],
  ["query queries queried querying"],
  ["commit commits committed committing"],
  ["control controls controlled controlling"],
  ["process processes processed processing"],
  ["add adds added adding"],
  ["agree agrees agreed"],
  ["die dies died"],
  ["lock locks locked locking"],
  ["quick quickly quickness"],
])("brings %s to one form", (words) => {
  expect(new Set(words.split(" ").map(stem)).size).toBe(1);
});

test.each([
  ["not note"],
  ["hop hope"],
  ["miss mission"],
  ["pass passion"],
  ["app apply"],
  ["thing th"],
  ["string str"],
  ["need ne"],
  ["status statu"],
  ["this thi"],
])("keeps %s apart", (words) => {
  const stems = words.split(" ").map(stem);
  expect(new Set(stems).size).toBe(stems.length);
});

test("leaves anything but plain English unchanged", () => {
  for (const word of ["красивый", "señores".normalize("NFD"), "ts2345s", "as"]) {
    expect(stem(word)).toBe(word);
  }
});

test("a word without a stemmed ending is skipped", () => {
  const word = fc.stringMatching(/^[a-z]{2,10}$/);
  fc.assert(
    fc.property(word, (each) => {
      const isMonth =
        /^(january|february|march|april|june|july|august|sept|september|october|november|december)$/;
      if (!isMonth.test(each)) expect(ENGLISH.stem(each)).toBe(stem(each));
    }),
    { numRuns: repeats(200, 5_000) },
  );
});

test("a stem begins with the first two letters of its word", () => {
  const suffix = fc.constantFrom(
    "",
    "s",
    "ies",
    "ied",
    "ing",
    "ed",
    "ly",
    "ation",
    "ness",
    "ility",
  );
  const word = fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), suffix).map((parts) => parts.join(""));
  fc.assert(
    fc.property(word, (each) => {
      expect(ENGLISH.stem(each).slice(0, 2)).toBe(each.slice(0, 2));
    }),
    { numRuns: repeats(400, 10_000) },
  );
});
