/** The periods of the search and of usage: presets, and ranges of days. */

/** Periods by their key in the address, with their label and length. */
export const PERIODS: readonly (readonly [key: string, words: string, days: number])[] = [
  ["1d", "last day", 1],
  ["7d", "last week", 7],
  ["30d", "last month", 30],
  ["365d", "last year", 365],
];

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
