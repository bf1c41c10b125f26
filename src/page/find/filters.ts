/** The filters of the search and the list: their labels, their values in the address, and the counts of these. */

import { effect, signal } from "@preact/signals";
import { address, format, go, param, restateSoon } from "../data/address.ts";
import { connection, engine, Latest, tell } from "../data/connection.ts";
import { periodOf } from "./periods.ts";

export const FILTERS = [
  "agent",
  "project",
  "repo",
  "workstation",
  "model",
  "role",
  "since",
] as const;
export type Filter = (typeof FILTERS)[number];

export const FILTER_NAMES: Readonly<Record<Filter, string>> = {
  agent: "Agent",
  project: "Project",
  repo: "Repository",
  workstation: "Workstation",
  model: "Model",
  role: "Role",
  since: "Time",
};

export type Chosen = Readonly<Partial<Record<Filter, string>>>;

export function chosenFilters(): Chosen {
  const chosen: Partial<Record<Filter, string>> = {};
  for (const filter of FILTERS) {
    const value = address.value.params.get(filter)?.[0];
    if (value !== undefined) chosen[filter] = value;
  }
  return chosen;
}

export function choose(filter: Filter, value: string | undefined): void {
  go(format("find", "", { q: param("q"), ...chosenFilters(), [filter]: value }));
}

/** The keystrokes of one search share one history entry. */
export function typeQuery(q: string): void {
  const next = format("find", "", { q, ...chosenFilters() });
  if (address.value.view === "find" && (param("q") !== "" || q === "")) restateSoon(next);
  else go(next);
}

/**
 * The number of sessions for each filter value in the current list or result.
 *
 * Counting a list reads every session in it, so the page asks for counts only while a menu is open.
 */
export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

type Facets = Readonly<Partial<Record<Filter, readonly FacetValue[]>>>;

/** Undefined while the counts load. */
export const facets = signal<Facets | undefined>(undefined);
/** The filter whose menu is open. */
export const openMenu = signal<Filter | undefined>(undefined);

const latest = new Latest();
/** The key and time of the last request: another menu reuses its counts. */
let counted: { readonly key: string; readonly at: number } | undefined;
const FRESH_MS = 10_000;

export function countByAddress(): () => void {
  return effect(() => {
    if (connection.value.kind !== "open" || address.value.view !== "find") return;
    if (openMenu.value === undefined) return;
    const query = param("q").trim();
    const { since, role, ...chosen } = chosenFilters();
    const key = JSON.stringify([query, since, role, chosen]);
    if (counted?.key === key && performance.now() - counted.at < FRESH_MS) return;
    if (counted?.key !== key) facets.value = undefined;
    counted = { key, at: performance.now() };
    void count({
      ...chosen,
      ...periodOf(since),
      ...(query === "" ? {} : { query, asYouType: true }),
      ...(query === "" || role === undefined ? {} : { role }),
    });
  });
}

type FacetsInput = NonNullable<Parameters<ReturnType<typeof engine.peek>["facets"]>[0]>;

async function count(input: FacetsInput): Promise<void> {
  try {
    const result = await latest.run((signal) => engine.peek().facets({ ...input, signal }));
    if (result !== undefined) facets.value = result;
  } catch (error) {
    // The list and the hits work without counts.
    counted = undefined;
    facets.value = {};
    tell(error);
  }
}
