/** Short texts of ages, and the times of options and arguments. */

import { BackscrollError } from "../../model/errors.ts";
import { resolveDate } from "../../search/query/resolve-date.ts";

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ["y", 365 * 86_400_000],
  ["mo", 30 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** Beyond this age the date is added. */
const DATED_AFTER_MS = 86_400_000;

/** `5 min`, `3 h`, `12 d`, `4 mo`, `2 y`; undefined within a minute. */
export function formatSpan(ms: number): string | undefined {
  const unit = UNITS.find(([, each]) => ms >= each);
  return unit === undefined ? undefined : `${Math.floor(ms / unit[1])} ${unit[0]}`;
}

/** `just now`, `3 h ago`, `12 d ago (2026-11-05)`. The date is local. */
export function formatAgo(time: number, now: number): string {
  const age = now - time;
  const span = formatSpan(age);
  if (span === undefined) return "just now";
  return age < DATED_AFTER_MS ? `${span} ago` : `${span} ago (${formatDate(time)})`;
}

/** `2026-11-05`, local. */
function formatDate(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The accepted forms, for descriptions of arguments. */
export const TIME_FORMS = "today, yesterday, 7d, 12h, 2026-01-31, 2026-01 or an ISO 8601 time";

/** As `resolveDate`; throws `invalid_input` for anything else. */
export function parseTime(
  text: string,
  field: string,
  edge: "since" | "until",
  now: number = Date.now(),
): Date {
  const time = resolveDate(text, now, edge);
  if (time !== undefined) return new Date(time);
  throw new BackscrollError(
    "invalid_input",
    `${field} must be a time such as ${TIME_FORMS}, not ${JSON.stringify(text.slice(0, 60))}`,
    { details: { field } },
  );
}
