/**
 * The daily reset time in a time zone, across daylight-saving changes.
 *
 * A day has 23 or 25 hours twice a year, so a boundary is a local date and an hour, converted to an
 * instant by the time zone. An hour skipped in spring begins at the change; of a repeated one in
 * autumn the first counts.
 */

const DAY_MS = 86_400_000;

/** The last instant at or before `now` at which the zone's clocks showed `hour` o'clock. */
export function lastBoundary(now: number, hour: number, timeZone: string): number {
  const today = localDay(now, timeZone);
  // Two steps suffice, except where a whole day was skipped, as at the date line.
  for (let back = 0; ; back++) {
    const boundary = momentOf(today - back * DAY_MS, hour, timeZone);
    if (boundary <= now) return boundary;
  }
}

/** The first moment after `time` at which the zone's clocks show `hour` o'clock. */
export function nextBoundary(time: number, hour: number, timeZone: string): number {
  const today = localDay(time, timeZone);
  for (let ahead = 0; ; ahead++) {
    const boundary = momentOf(today + ahead * DAY_MS, hour, timeZone);
    if (boundary > time) return boundary;
  }
}

export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** The local date of a moment, as the UTC midnight of that date. */
function localDay(time: number, timeZone: string): number {
  const local = localTime(time, timeZone);
  return local - mod(local, DAY_MS);
}

/** The first instant of that hour on that day. `day` is a local date as its UTC midnight. */
function momentOf(day: number, hour: number, timeZone: string): number {
  const wanted = day + hour * 3_600_000;
  // The zone's UTC offsets before and after any change on this day.
  const before = offsetAt(wanted - DAY_MS, timeZone);
  const after = offsetAt(wanted + DAY_MS, timeZone);
  const moments = [wanted - before, wanted - after].filter(
    (moment) => localTime(moment, timeZone) === wanted,
  );
  // A skipped hour begins, by the old offset, at the moment of the change.
  return moments.length === 0 ? wanted - before : Math.min(...moments);
}

function offsetAt(time: number, timeZone: string): number {
  return localTime(time, timeZone) - (time - mod(time, 1_000));
}

/** The zone's local time, to the second, as if it were UTC. */
function localTime(time: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(time)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Cached: creating one is the expensive part. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const two = "2-digit";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    calendar: "iso8601",
    numberingSystem: "latn",
    year: "numeric",
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  formats.set(timeZone, format);
  return format;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
