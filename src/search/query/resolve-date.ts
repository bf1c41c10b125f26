/** Parses typed dates: `2026-05-01`, `2026-05`, `2026`, `7d`, `24h`, `today`, `yesterday`. */

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS: number = 24 * HOUR_MS;
const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

const AGE = /^(\d{1,5})([mhdw])$/;
const CALENDAR = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(z|[+-]\d{2}:\d{2})?$/;

/**
 * The instant of `value` in epoch milliseconds; undefined if invalid.
 *
 * A day, month or year is a span of `calendar`: `since` takes its first millisecond, `until` its
 * last, so that both ends are inclusive. An age (`7d`) is that long before `now`. A timestamp
 * without an offset is in the calendar's time zone too.
 */
export function resolveDate(
  value: string,
  now: number,
  edge: "since" | "until",
  calendar: Calendar = UTC,
): number | undefined {
  const text = value.trim().toLowerCase();
  const age = AGE.exec(text);
  if (age !== null) return now - Number(age[1]) * (UNITS[age[2] ?? ""] ?? 0);

  const timestamp = TIMESTAMP.exec(text);
  if (timestamp !== null) {
    const isLocal = timestamp[1] === undefined && calendar === LOCAL;
    const written = timestamp[1] === undefined && !isLocal ? `${text}z` : text;
    const time = Date.parse(written.toUpperCase());
    return Number.isNaN(time) ? undefined : time;
  }

  const span = spanOf(text, now, calendar);
  return edge === "since" ? span?.start : span && span.next - 1;
}

interface Span {
  readonly start: number;
  /** The first millisecond after it. */
  readonly next: number;
}

function spanOf(text: string, now: number, calendar: Calendar): Span | undefined {
  const days = (from: number, to: number): Span => {
    const [y, m, d] = calendar.dateOf(now);
    return { start: calendar.startOf(y, m, d + from), next: calendar.startOf(y, m, d + to) };
  };
  if (text === "today") return days(0, 1);
  if (text === "yesterday") return days(-1, 0);

  const [found, year, month, day] = CALENDAR.exec(text) ?? [];
  if (found === undefined) return undefined;
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)];
  // Refuse dates that would roll over: 31 February.
  if (!new Date(Date.UTC(y, m, d)).toISOString().startsWith(found)) return undefined;
  const start = calendar.startOf(y, m, d);
  if (day !== undefined) return { start, next: calendar.startOf(y, m, d + 1) };
  return {
    start,
    next: month === undefined ? calendar.startOf(y + 1, 0, 1) : calendar.startOf(y, m + 1, 1),
  };
}

type YearMonthDay = readonly [year: number, month: number, day: number];

/** The start of a day. Months count from 0; days and months roll over. */
export interface Calendar {
  readonly startOf: (...date: YearMonthDay) => number;
  readonly dateOf: (time: number) => YearMonthDay;
}

export const UTC: Calendar = {
  startOf: (...date) => Date.UTC(...date),
  dateOf: (time) => {
    const date = new Date(time);
    return [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  },
};

/** The calendar of the process's time zone. */
export const LOCAL: Calendar = {
  startOf: (...date) => new Date(...(date as [number, number, number])).getTime(),
  dateOf: (time) => {
    const date = new Date(time);
    return [date.getFullYear(), date.getMonth(), date.getDate()];
  },
};
