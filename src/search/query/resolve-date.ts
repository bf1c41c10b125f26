/** Dates as people type them: `2026-05-01`, `2026-05`, `2026`, `7d`, `24h`, `today`, `yesterday`. */

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS: number = 24 * HOUR_MS;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };

const AGE = /^(\d{1,5})([hdw])$/;
const CALENDAR = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(z|[+-]\d{2}:\d{2})?$/;

/**
 * The instant that `value` means, in epoch milliseconds, or undefined if it means none.
 *
 * A day, month or year is a span, in UTC: `since` takes its first millisecond, `until` its last, so
 * that both ends count. An age (`7d`) is that long before `now`, a timestamp is itself.
 */
export function resolveDate(
  value: string,
  now: number,
  edge: "since" | "until",
): number | undefined {
  const text = value.trim().toLowerCase();
  const age = AGE.exec(text);
  if (age !== null) return now - Number(age[1]) * (UNITS[age[2] ?? ""] ?? 0);

  const timestamp = TIMESTAMP.exec(text);
  if (timestamp !== null) {
    const time = Date.parse(
      timestamp[1] === undefined ? `${text}z`.toUpperCase() : text.toUpperCase(),
    );
    return Number.isNaN(time) ? undefined : time;
  }

  const span = spanOf(text, now);
  return edge === "since" ? span?.start : span && span.next - 1;
}

interface Span {
  readonly start: number;
  /** The first millisecond after it. */
  readonly next: number;
}

function spanOf(text: string, now: number): Span | undefined {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  if (text === "today") return { start: today, next: today + DAY_MS };
  if (text === "yesterday") return { start: today - DAY_MS, next: today };

  const [found, year, month, day] = CALENDAR.exec(text) ?? [];
  if (found === undefined) return undefined;
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)];
  const start = Date.UTC(y, m, d);
  // The calendar rolls over what does not exist: 31 February would be a day in March.
  if (!new Date(start).toISOString().startsWith(found)) return undefined;
  if (day !== undefined) return { start, next: start + DAY_MS };
  return { start, next: month === undefined ? Date.UTC(y + 1, 0) : Date.UTC(y, m + 1) };
}
