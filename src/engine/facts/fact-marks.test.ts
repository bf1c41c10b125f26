/** Compares marks with a naive model: on any tree, each message is read exactly once. */

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FactExtractor } from "../../facts/fact-extractor.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";
import { withMark } from "./extract-facts.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await open(":memory:");
});
afterAll(() => engine.close());

/** Append, move back to an earlier message, or extract up to one (or to the leaf). */
type Step =
  | { readonly do: "say" }
  | { readonly do: "branch"; readonly to: number }
  | { readonly do: "extract"; readonly through: number | undefined };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: "say" }) },
    { weight: 2, arbitrary: fc.nat().map((to): Step => ({ do: "branch", to })) },
    {
      weight: 3,
      arbitrary: fc.option(fc.nat(), { nil: undefined }).map((through): Step => {
        return { do: "extract", through };
      }),
    },
  ),
  { maxLength: 25 },
);

test("each message is read once, on any branch", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const metadata = { facts: { enabled: true } };
      const session = await engine.createSession({ agent: "a", createdBy: "b", metadata });
      const read: string[] = [];
      const extractor: FactExtractor = {
        name: "reader",
        extract: async ({ entries }) => {
          read.push(...entries.map(({ id }) => id));
          return { facts: [], unread: 0 };
        },
      };
      const parents = new Map<string, string | null>();
      const ids: string[] = [];
      let leaf: string | null = null;
      const pick = (n: number) => ids[n % Math.max(1, ids.length)];
      for (const step of all) {
        if (step.do === "say") {
          const { id } = await session.append({ role: "user", content: "x" });
          parents.set(id, leaf);
          ids.push(id);
          leaf = id;
        } else if (step.do === "branch") {
          leaf = pick(step.to) ?? null;
          await session.branch(leaf);
        } else {
          const through = step.through === undefined ? undefined : pick(step.through);
          await session.extractFacts(through, { extractor });
          expect(new Set(read).size).toBe(read.length);
          for (let at = through ?? leaf; at !== null; at = parents.get(at) ?? null) {
            expect(read).toContain(at);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a new mark replaces those on its path, and the oldest are dropped", () => {
  expect(withMark(["a", "b", "c"], ["b"], "d")).toEqual(["a", "c", "d"]);
  expect(withMark(["a", "b"], [], "a")).toEqual(["b", "a"]);
  const many = Array.from({ length: 30 }, (_, i) => `m${i}`);
  expect(withMark(many, [], "new")).toHaveLength(20);
  expect(withMark(many, [], "new").at(-1)).toBe("new");
});
