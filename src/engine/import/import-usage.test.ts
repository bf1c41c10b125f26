import fc from "fast-check";
import { expect, test } from "vitest";
import type { Usage } from "../../model/entry.ts";
import { AnswerUsage } from "./import-usage.ts";

const usage = (outputTokens: number, inputTokens = 0): Usage => ({
  inputTokens,
  outputTokens,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
});

test("a later part gets the remainder of its answer's usage", () => {
  const answers = new AnswerUsage();
  answers.found("a", null, usage(50, 100));
  expect(answers.take("a", usage(80, 100))).toEqual(usage(30));
  expect(answers.take("a", usage(5))).toEqual(usage(5));
  expect(answers.take("b", usage(80))).toEqual(usage(80));
});

test("an answer without new usage adds nothing", () => {
  const answers = new AnswerUsage();
  answers.found("a", null, usage(50));
  expect(answers.take("a", usage(50))).toBeNull();
});

test("a copy does not change its original", () => {
  const answers = new AnswerUsage();
  answers.found("a", null, usage(50));
  new AnswerUsage(answers).take("a", usage(60));
  expect(answers.take("a", usage(60))).toEqual(usage(10));
});

test("for any growth of an answer between readings, its parts add up to the whole", () => {
  // Each reading finds more parts, and puts the answer's usage on the last of them.
  const growth = fc.array(fc.record({ parts: fc.nat(3), tokens: fc.nat(50) }), { minLength: 1 });
  fc.assert(
    fc.property(growth, (readings) => {
      const stored: (Usage | null)[] = [];
      let [parts, tokens] = [0, 0];
      for (const more of readings) {
        parts += more.parts;
        if (more.parts > 0) tokens += more.tokens;
        const answers = new AnswerUsage();
        for (let i = 0; i < parts; i++) {
          const read = i === parts - 1 && tokens > 0 ? usage(tokens) : null;
          const known = stored[i];
          if (known === undefined) stored.push(answers.take("a", read));
          else answers.found("a", read, known);
        }
      }
      expect(stored.reduce((sum, each) => sum + (each?.outputTokens ?? 0), 0)).toBe(tokens);
    }),
  );
});
