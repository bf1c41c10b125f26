/** Times as people and models write them in an option or an argument. */

import { BackscrollError } from "../../model/errors.ts";
import { LOCAL, resolveDate } from "../../search/query/resolve-date.ts";

/** What `parseTime` takes, for descriptions of arguments. */
export const TIME_FORMS = "today, yesterday, 7d, 12h, 2026-01-31, 2026-01 or an ISO 8601 time";

/**
 * A day, month or year of the local time zone, an age, or an instant; `invalid_input` otherwise. Of a
 * day, `since` is its beginning and `until` the beginning of the next: both ends count.
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
