import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContextMessage } from "../src/context/chat-model.ts";
import { PROVIDERS, renderContext } from "../src/context/render/render.ts";
import { VIOLATIONS } from "./support/provider-rules/index.ts";
import { stringsIn } from "./support/provider-rules/wire.ts";
import { randomContext } from "./support/random-context.ts";
import { repeats } from "./support/repeats.ts";

const RUNS = { numRuns: repeats(60, 700) };

describe.each(PROVIDERS)("any context, rendered for %s", (provider) => {
  test("breaks none of its rules", () => {
    fc.assert(
      fc.property(randomContext(), fc.constantFrom(undefined, "gpt-5", "llama-3"), (all, model) => {
        const options = model === undefined ? {} : { model };
        expect(VIOLATIONS[provider](renderContext(all, provider, options))).toEqual([]);
      }),
      RUNS,
    );
  });

  test("contains every text, in order", () => {
    fc.assert(
      fc.property(randomContext(), (all) => {
        const said = stringsIn(renderContext(all, provider)).join("\n");
        let from = 0;
        for (const text of textsOf(all)) {
          // Trailing white space of the last text may be trimmed.
          const at = said.indexOf(text.toWellFormed().trimEnd(), from);
          expect(at, `${JSON.stringify(text)} in ${said}`).toBeGreaterThanOrEqual(from);
          from = at + 1;
        }
      }),
      RUNS,
    );
  });

  test("is deterministic, and leaves the context unchanged", () => {
    fc.assert(
      fc.property(randomContext(), (all) => {
        const copy = structuredClone(all);
        const rendered = renderContext(freeze(all), provider);
        expect(all).toEqual(copy);
        expect(JSON.stringify(renderContext(copy, provider))).toBe(JSON.stringify(rendered));
      }),
      RUNS,
    );
  });

  test("shares no mutable state with it", () => {
    fc.assert(
      fc.property(randomContext(), (all) => {
        const rendered = renderContext(freeze(all), provider);
        expect(isFrozenAnywhere(rendered)).toBe(false);
      }),
      RUNS,
    );
  });
});

function textsOf(messages: readonly ContextMessage[]): string[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.type === "text" && block.text.trim() !== "" ? [block.text] : [],
    ),
  );
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}

function isFrozenAnywhere(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.isFrozen(value) || Object.values(value).some(isFrozenAnywhere);
}
