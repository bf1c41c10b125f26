/** Evaluates the similarity threshold above which two questions count as the same. */

import { readFileSync } from "node:fs";
import type { Embedder } from "../src/index.ts";
import { SAME_QUESTION } from "../src/recap/related.ts";
import type { Report } from "./measure.ts";
import { dot } from "./vector-corpus.ts";

/** Minimum share of true positives, and maximum share of false positives. */
const MIN_SAME_PERCENT = 70;
const MAX_OTHER_PERCENT = 0.5;

/** Each pair is one question in two wordings; two of different pairs are two questions. */
export async function measureSameQuestions(report: Report, embedder: Embedder): Promise<void> {
  const file = new URL("./data/same-questions.json", import.meta.url);
  const pairs = JSON.parse(readFileSync(file, "utf8")) as [string, string][];
  const vectors = (await embedder.embed(pairs.flat())) as readonly Float32Array[];
  const same: number[] = [];
  const others: number[] = [];
  for (const [i, one] of vectors.entries()) {
    for (const [j, other] of vectors.slice(0, i).entries()) {
      const isSame = Math.floor(i / 2) === Math.floor(j / 2);
      (isSame ? same : others).push(dot(one, other));
    }
  }
  const share = (all: readonly number[]) =>
    (100 * all.filter((each) => each >= SAME_QUESTION).length) / all.length;
  report.bar("same questions told, percent", share(same), MIN_SAME_PERCENT, true);
  report.bar("other questions told as the same, percent", share(others), MAX_OTHER_PERCENT);
}
