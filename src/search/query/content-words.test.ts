import { expect, test } from "vitest";
import { contentWords } from "./content-words.ts";

test.each([
  ["tell me about zebras", "zebras"],
  ["What's the (nightly) job about?", "(nightly) job"],
  ["about", "about"],
  ["what about this?", "what about this?"],
  ['"talk about it" cron', '"talk about it" cron'],
  ['show me "talk about it"', '"talk about it"'],
  ["+about the agent:coder", "+about agent:coder"],
  ["why does it not lock", "not lock"],
  ["", ""],
])("of %j stays %j", (query, meant) => {
  expect(contentWords(query)).toBe(meant);
});
