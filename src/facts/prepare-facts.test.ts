import { expect, test } from "vitest";
import { entry } from "../compaction/digest/digest.cases.ts";
import type { ProposedFact } from "./fact-extractor.ts";
import { type PrepareOptions, prepareFacts } from "./prepare-facts.ts";

const ENTRIES = [entry("E1", "user", "one"), entry("E2", "user", "two")];

const fact = (object: string, more: Partial<ProposedFact> = {}): ProposedFact => ({
  subject: "Ana",
  predicate: "city",
  object,
  ...more,
});

function prepare(proposed: readonly ProposedFact[], options: Partial<PrepareOptions> = {}) {
  return prepareFacts(proposed, ENTRIES, { redaction: "secrets", ...options });
}

test("facts are ordered by their citations, the uncited last", async () => {
  const { facts } = await prepare([
    fact("guess"),
    fact("later", { entryId: "E2" }),
    fact("first", { entryId: "E1" }),
    fact("second", { entryId: "E1" }),
  ]);
  expect(facts.map(({ object }) => object)).toEqual(["first", "second", "later", "guess"]);
});

test("confidence is from 0 to 1, and capped for an uncited fact", async () => {
  const confidences = [undefined, 0.2, 7, -1, Number.NaN, "high" as unknown as number];
  const cited = confidences.map((confidence) =>
    fact("x", { entryId: "E1", ...(confidence === undefined ? {} : { confidence }) }),
  );
  const shares = async (proposed: readonly ProposedFact[]) =>
    (await prepare(proposed)).facts.map(({ confidence }) => confidence);
  expect(await shares(cited)).toEqual([0.7, 0.2, 1, 0, 0.7, 0.7]);
  const uncited = cited.map((each) => ({ ...each, entryId: "E9" }));
  expect(await shares(uncited)).toEqual([0.5, 0.2, 0.5, 0, 0.5, 0.5]);
  expect((await prepare(uncited)).facts.map(({ sourceEntry }) => sourceEntry)).toEqual(
    Array(6).fill(null),
  );
});

test("facts withheld by either filter are counted, and malformed proposals are dropped", async () => {
  const odd = [null, 5, {}, { subject: "a" }, fact(" "), fact("x".repeat(5_000))];
  expect(await prepare(odd as ProposedFact[])).toEqual({ facts: [], withheld: 6 });
  const secret = fact("hunter22", { predicate: "password" });
  expect(await prepare([secret, fact("Rome")])).toMatchObject({ withheld: 1 });
});

test("the host gets the redacted fact, and its result is redacted again", async () => {
  const seen: string[] = [];
  const { facts, withheld } = await prepare(
    [fact("sk-abcdefghij0123456789 there"), fact("no"), fact("empty"), fact("tidy")],
    {
      hook: async (each) => {
        seen.push(each.object);
        if (each.object === "no") return null;
        if (each.object === "empty") return { ...each, object: " \n " };
        return { ...each, object: `${each.object}\n!` };
      },
    },
  );
  expect(seen).toEqual(["[redacted] there", "no", "empty", "tidy"]);
  expect(facts.map(({ object }) => object)).toEqual(["[redacted] there !", "tidy !"]);
  expect(withheld).toBe(2);
});
