import { expect, test } from "vitest";
import { PROVIDERS, renderContext } from "./render.ts";
import { said } from "./story.cases.ts";

test("no messages give an empty list for every provider", () => {
  expect(PROVIDERS.map((provider) => renderContext([], provider))).toEqual([
    { messages: [] },
    { messages: [] },
    { messages: [] },
    { input: [] },
    { contents: [] },
    { messages: [] },
  ]);
});

test("the result's type follows the provider", () => {
  const { contents } = renderContext([said("user", "hi")], "google");
  const { input } = renderContext([said("user", "hi")], "openai-responses");
  expect([contents.length, input.length]).toEqual([1, 1]);
});
