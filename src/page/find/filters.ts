/** The filters of the search and the list: their labels, and their values in the address. */

import { address, format, go, param, restateSoon } from "../data/address.ts";

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
