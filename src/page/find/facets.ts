/** The number of sessions for each filter value in the current list or result. */

import { effect, signal } from "@preact/signals";
import { address, param } from "../data/address.ts";
import { connection, engine, tell } from "../data/connection.ts";
import { Latest } from "../data/latest.ts";
import { chosenFilters, type Filter, sinceOf } from "./filters.ts";

export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

export type Facets = Readonly<Partial<Record<Filter, readonly FacetValue[]>>>;

export const facets = signal<Facets>({});

/** Counting waits for a pause in the typing, in milliseconds: results come first. */
const PAUSE_MS = 150;

const latest = new Latest();

export function countByAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return effect(() => {
    if (connection.value.kind !== "open" || address.value.view !== "find") return;
    const query = param("q").trim();
    const { since, role, model: _, ...chosen } = chosenFilters();
    const from = sinceOf(since);
    clearTimeout(timer);
    timer = setTimeout(
      () =>
        void count({
          ...chosen,
          ...(from === undefined ? {} : { since: from }),
          ...(query === "" ? {} : { query, asYouType: true }),
          ...(query === "" || role === undefined ? {} : { role }),
        }),
      query === "" ? 0 : PAUSE_MS,
    );
  });
}

type FacetsInput = NonNullable<Parameters<ReturnType<typeof engine.peek>["facets"]>[0]>;

async function count(input: FacetsInput): Promise<void> {
  try {
    const counted = await latest.run((signal) => engine.peek().facets({ ...input, signal }));
    if (counted !== undefined) facets.value = counted;
  } catch (error) {
    // The list and the hits are there without it.
    tell(error);
  }
}
