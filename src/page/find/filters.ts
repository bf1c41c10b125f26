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

/** Periods by their key in the address, with their label and length. */
export const PERIODS: readonly (readonly [key: string, words: string, days: number])[] = [
  ["1d", "last day", 1],
  ["7d", "last week", 7],
  ["30d", "last month", 30],
  ["365d", "last year", 365],
];

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

/** Between the first and the last day of a chosen range, either of which may be empty. */
const RANGE = "..";

export function toRange(first: string, last: string): string | undefined {
  return first === "" && last === "" ? undefined : `${first}${RANGE}${last}`;
}

/** The first and the last day of a range; empty for one of `PERIODS`. */
export function daysOf(period: string | undefined): readonly [first: string, last: string] {
  const [first = "", last] = (period ?? "").split(RANGE);
  return last === undefined ? ["", ""] : [first, last];
}

/** A period's start and end, exclusive: days of the reader's time zone count whole. */
export function periodOf(
  period: string | undefined,
  now: number = Date.now(),
): { readonly since?: Date; readonly until?: Date } {
  const days = PERIODS.find(([key]) => key === period)?.[2];
  if (days !== undefined) return { since: new Date(now - days * 86_400_000) };
  const [since, until] = daysOf(period).map((day, i) => startOfDay(day, i));
  return {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** The start of a local day, or of the one so many days later; undefined if it is no day. */
function startOfDay(day: string, later: number): Date | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + later);
}
