/** The words of a prompt that have a meaning, each with its weight: the rarer the heavier. */

import { analyze } from "../../search/analysis/analyze.ts";
import { stopWordWeight } from "../../search/analysis/stop-words.ts";
import type { SearchExplanation } from "../../search/request.ts";

export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  analyze(text, 0, "english", (term) => terms.add(term));
  return terms;
}

/** By the counts of the index; `terms` are those of the prompt. */
export function weigh(
  terms: ReadonlySet<string>,
  { terms: counted, documents }: SearchExplanation,
): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const known = new Map(counted.map(({ term, documents }) => [term, documents]));
  for (const term of terms) {
    if (stopWordWeight(term, "english") < 1) continue;
    const count = known.get(term);
    if (count === undefined) continue;
    weights.set(term, Math.log(1 + (documents - count + 0.5) / (count + 0.5)));
  }
  return weights;
}
