/**
 * Parses typed times: `2026-05-01`, `2026-05`, `2026`, `today`, `yesterday`, `7d`, `24h`, and ISO 8601
 * timestamps. Options, queries, REST and MCP all read `since` and `until` by this function.
 */

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS: number = 24 * HOUR_MS;
const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

const AGE = /^(\d{1,6})([mhdw])$/;
const CALENDAR = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:z|[+-]\d{2}:?\d{2})?$/;

/**
 * The instant of `value` in epoch milliseconds; undefined if invalid.
 *
 * A day, month or year is a span of the process's time zone, and counts whole on both ends: `since`
 * takes its first millisecond, `until` the first one after it. An age (`7d`) is that long before
 * `now`; a timestamp without an offset is local. In each case `since` is inclusive and `until`
 * exclusive.
 */
export function resolveDate(
  value: string,
  now: number,
  edge: "since" | "until",
): number | undefined {
  const text = value.trim().toLowerCase();
  const age = AGE.exec(text);
  if (age !== null) return now - Number(age[1]) * (UNITS[age[2] ?? ""] ?? 0);
  const [, day] = TIMESTAMP.exec(text) ?? [];
  if (day !== undefined) {
    const time = Date.parse(text.replace(" ", "T").toUpperCase());
    return Number.isNaN(time) || spanOf(day, now) === undefined ? undefined : time;
  }
  return spanOf(text, now)?.[edge];
}

interface Span {
  readonly since: number;
  /** The first millisecond after it. */
  readonly until: number;
}

function spanOf(text: string, now: number): Span | undefined {
  const today = new Date(now);
  const [y0, m0, d0] = [today.getFullYear(), today.getMonth(), today.getDate()];
  const span = (from: number, to: number) => ({ since: from, until: to });
  if (text === "today") return span(startOf(y0, m0, d0), startOf(y0, m0, d0 + 1));
  if (text === "yesterday") return span(startOf(y0, m0, d0 - 1), startOf(y0, m0, d0));
  const [found, year, month, day] = CALENDAR.exec(text) ?? [];
  if (found === undefined) return undefined;
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)];
  // Refuse dates that would roll over: 31 February.
  if (!new Date(Date.UTC(y, m, d)).toISOString().startsWith(found)) return undefined;
  const start = startOf(y, m, d);
  if (day !== undefined) return span(start, startOf(y, m, d + 1));
  return span(start, month === undefined ? startOf(y + 1, 0, 1) : startOf(y, m + 1, 1));
}

/** The start of a local day. Months count from 0; days and months roll over. */
function startOf(year: number, month: number, day: number): number {
  return new Date(year, month, day).getTime();
}
