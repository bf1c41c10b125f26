/** Which documents of a source are messages whose content was erased. */

import type { ErasedMessages } from "../port.ts";
import type { Source } from "./source.ts";
import { lowerBound } from "./term-list.ts";

/** Ascending, each once. Undefined if a blob is missing; all that could be asked for was. */
export function findErased(
  source: Pick<Source, "slotsOf" | "facts">,
  erased: readonly ErasedMessages[],
): readonly number[] | undefined {
  const found: number[] = [];
  let isComplete = true;
  for (const [session, ranges] of Map.groupBy(erased, (each) => each.session)) {
    const slots = source.slotsOf(session);
    if (slots === undefined) isComplete = false;
    const isErased = withinAny(ranges);
    for (const { from, to } of slots ?? []) {
      for (let document = from; document < to; document++) {
        const facts = source.facts(document);
        if (facts === undefined) isComplete = false;
        else if (isErased(facts.sequence)) found.push(document);
      }
    }
  }
  return isComplete ? found.sort((a, b) => a - b) : undefined;
}

/** Ranges may overlap: what was erased to be audited may be erased again to a tombstone. */
function withinAny(ranges: readonly ErasedMessages[]): (sequence: number) => boolean {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = ends.at(-1);
    if (last !== undefined && from <= last + 1) ends[ends.length - 1] = Math.max(last, to);
    else {
      starts.push(from);
      ends.push(to);
    }
  }
  const ascending = Uint32Array.from(starts);
  return (sequence) => {
    const at = lowerBound(ascending, sequence + 1, 0, starts.length) - 1;
    return at >= 0 && sequence <= (ends[at] as number);
  };
}
