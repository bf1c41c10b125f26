/** The words of a prompt that have a meaning, each with its weight: the rarer the heavier. */

import { analyze } from "../../search/analysis/analyze.ts";
import { stopWordWeight } from "../../search/analysis/stop-words.ts";
import type { SearchExplanation } from "../../search/request.ts";

/** All terms of a text, as the index has them. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  analyze(text, 0, "english", (term) => terms.add(term));
  return terms;
}

/** The inverse document frequency of each term, by the counts of a search for it. */
export function weigh(
  terms: ReadonlySet<string>,
  { terms: counted, documents }: SearchExplanation,
): ReadonlyMap<string, number> {
  const counts = new Map(counted.map((each) => [each.term, each.documents]));
  const weights = new Map<string, number>();
  for (const term of terms) {
    const count = counts.get(term);
    if (count === undefined || stopWordWeight(term, "english") < 1 || term.startsWith("redact")) {
      continue;
    }
    weights.set(term, Math.log(1 + (documents - count + 0.5) / (count + 0.5)));
  }
  return weights;
}
