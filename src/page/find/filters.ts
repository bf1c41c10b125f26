/** The filters of the search and the list: their labels, their values in the address, and the counts of these. */

import { effect, signal } from "@preact/signals";
import { address, go, param, restateSoon } from "../data/address.ts";
import { connection, engine, Latest, tell } from "../data/connection.ts";
import { listAddress, listShown } from "./beside.ts";
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

/** Filters that are on or off, by their name in the address. */
export const SWITCHES = [
  { name: "subagents", words: "Sub-agents", title: "Only sessions of sub-agents" },
  { name: "flat", words: "Each run", title: "Sub-agents and repeated runs in rows of their own" },
] as const;

type Switch = (typeof SWITCHES)[number]["name"];

export function isOn(name: Switch): boolean {
  return param(name) !== "";
}

/** What a search keeps when another part of it changes. */
function kept() {
  const switches = SWITCHES.map(({ name }) => [name, param(name)] as const);
  return { sort: param("sort"), ...chosenFilters(), ...Object.fromEntries(switches) };
}

export function turn(name: Switch): void {
  go(listAddress({ ...kept(), q: param("q"), [name]: isOn(name) ? "" : "1" }));
}

/** Whether fewer sessions are listed than there are. */
export function isNarrowed(): boolean {
  return isOn("subagents") || Object.keys(chosenFilters()).length > 0;
}

/** The chosen filters as the calls of the engine take them; of messages only for a search. */
export function filterInput(ofMessages: boolean) {
  const { since, role, ...same } = chosenFilters();
  return {
    ...same,
    ...periodOf(since),
    ...(ofMessages && role !== undefined ? { role } : {}),
    ...(isOn("subagents") ? { subAgent: true } : {}),
  };
}

export function chooseSort(sort: string): void {
  go(listAddress({ ...kept(), q: param("q"), sort }));
}

export function choose(filter: Filter, value: string | undefined): void {
  go(listAddress({ ...kept(), q: param("q"), [filter]: value }));
}

/** The query whose last change was a key: its last word is a prefix. */
const typed = signal("");

/** Whether the last word of a query may go on: not if it was pasted, linked or submitted. */
export function isBeingTyped(query: string): boolean {
  return query !== "" && typed.value === query;
}

/** The keystrokes of one search share one history entry. */
export function typeQuery(q: string, isByKey: boolean): void {
  typed.value = isByKey ? q : "";
  const next = listAddress({ ...kept(), q });
  if (listShown.value && (param("q") !== "" || q === "")) restateSoon(next);
  else go(next);
}

export function submitQuery(): void {
  typed.value = "";
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
    if (connection.value.kind !== "open" || !listShown.value) return;
    if (openMenu.value === undefined) return;
    const query = param("q").trim();
    const input = filterInput(query !== "");
    const key = JSON.stringify([query, input, param("since")]);
    if (counted?.key === key && performance.now() - counted.at < FRESH_MS) return;
    if (counted?.key !== key) facets.value = undefined;
    counted = { key, at: performance.now() };
    void count({
      ...input,
      ...(query === "" ? {} : { query, asYouType: isBeingTyped(param("q")) }),
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
