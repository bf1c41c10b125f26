/** Parses times in options and arguments. */

import { BackscrollError } from "../../model/errors.ts";
import { resolveDate } from "../../search/query/resolve-date.ts";

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
