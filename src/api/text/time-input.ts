/** Parses times in options and arguments. */

import { BackscrollError } from "../../model/errors.ts";
import { LOCAL, resolveDate } from "../../search/query/resolve-date.ts";

/** The accepted forms, for descriptions of arguments. */
export const TIME_FORMS = "today, yesterday, 7d, 12h, 2026-01-31, 2026-01 or an ISO 8601 time";

/**
 * A day, month or year of the local time zone, an age, or an instant; throws `invalid_input`
 * otherwise. For a day, `since` is its start and `until` the start of the next: both ends are
 * inclusive.
 */
export function parseTime(
  text: string,
  field: string,
  edge: "since" | "until",
  now: number = Date.now(),
): Date {
  const time = resolveDate(text, now, edge, LOCAL) ?? parseInstant(text);
  if (time === undefined) {
    throw new BackscrollError(
      "invalid_input",
      `${field} must be a time such as ${TIME_FORMS}, not ${JSON.stringify(text.slice(0, 60))}`,
      { details: { field } },
    );
  }
  const isSpan = edge === "until" && /^(today|yesterday|\d{4}(-\d{2}){0,2})$/i.test(text.trim());
  return new Date(isSpan ? time + 1 : time);
}

/** Other forms of ISO 8601. */
function parseInstant(text: string): number | undefined {
  const time = Date.parse(text);
  return /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(time) ? time : undefined;
}
