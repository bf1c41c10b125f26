import { expect, test } from "vitest";
import { paraphraseData, readParaphrases } from "../bench/paraphrase-data.ts";
import { ENGLISH } from "../src/search/analysis/morphology.ts";
import { stopWordWeight } from "../src/search/analysis/stop-words.ts";

/** Stems of content words. */
function stems(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words.map((word) => ENGLISH.stem(word)).filter((stem) => stopWordWeight(stem, "english") >= 1),
  );
}

test("a paraphrase shares no content word with its answer, among many distractors", () => {
  const paraphrases = readParaphrases();
  expect(paraphrases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(paraphrases.flat()).size).toBe(2 * paraphrases.length);
  const shared = paraphrases.flatMap(([answer, question]) => {
    const said = stems(answer);
    return [...stems(question)].filter((stem) => said.has(stem));
  });
  expect(shared).toEqual([]);
  expect(paraphraseData().sessions.length).toBeGreaterThanOrEqual(500);
});
