/**
 * About how many sessions have most of a query: at least half of its words by weight, in any of their
 * messages. Of many postings a sample of the chunks is counted.
 */

import type { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS } from "../index/layout.ts";
import { documentsOf } from "../index/lists/term-list.ts";
import type { SansIo } from "../port.ts";
import { coverWeights } from "./coverage.ts";
import { chunkFilter } from "./filter/filter.ts";
import type { MessagePass, WeightedTerm } from "./message-pass.ts";

/** Terms that are counted, as bits of a number: the heaviest. */
const MAX_TERMS = 31;
/** Postings that are visited: some ten milliseconds. */
const MAX_POSTINGS = 400_000;
/** The share of the query by weight that a session needs. */
const MOST = 0.5;

interface Count extends Pick<MessagePass, "views" | "terms" | "outputs" | "filter"> {
  readonly blobs: Blobs;
}

export function* countSessions({
  views,
  terms,
  outputs,
  filter,
  blobs,
}: Count): SansIo<number | undefined> {
  const weights = coverWeights(terms);
  const weighed = terms
    .map((said, i) => ({ said, weight: weights[i] as number }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_TERMS);
  if (weighed.length === 0) return undefined;
  const fields = weighed.map(({ said }) => [said, ...outputs.filter(isSame(said))]);
  const postings = fields.flat().reduce((sum, { documents }) => sum + documents, 0);
  const step = Math.max(1, Math.ceil(postings / MAX_POSTINGS));
  const has = yield* blobs.complete(() => {
    const found = new Map<number, number>();
    let seen = 0;
    for (const [number, view] of views.entries()) {
      const chunks = Math.ceil(view.source.slots / CHUNK_DOCUMENTS);
      for (let chunk = 0; chunk < chunks; chunk++) {
        if (seen++ % step !== 0) continue;
        const columns = view.source.columns(chunk);
        const accepted = columns && chunkFilter(view, chunk, columns, filter);
        if (columns === undefined || accepted === null || accepted === undefined) continue;
        for (const [bit, own] of fields.entries()) {
          for (const term of own) {
            const list = term.inViews[number]?.list(chunk);
            if (list === null || list === undefined) continue;
            for (const document of documentsOf(list)) {
              const session = columns.sessions[document] as number;
              const known = found.get(session) ?? 0;
              if ((known & (1 << bit)) !== 0 || !accepted.accepts(document)) continue;
              found.set(session, known | (1 << bit));
            }
          }
        }
      }
    }
    return found;
  });
  const all = weighed.reduce((sum, { weight }) => sum + weight, 0);
  let count = 0;
  for (const bits of has.values()) {
    const share = weighed.reduce((sum, { weight }, i) => sum + (bits & (1 << i) ? weight : 0), 0);
    if (share >= MOST * all) count++;
  }
  return count * step;
}

function isSame({ term }: WeightedTerm): (other: WeightedTerm) => boolean {
  return (other) => other.term.label === term.label;
}
