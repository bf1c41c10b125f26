/**
 * The moment of a day at which sessions are reset, in a time zone.
 *
 * A day has 23 or 25 hours twice a year, so a boundary is a local date and an hour, converted to an
 * instant by the time zone. An hour that is skipped in spring begins when the clocks are put
 * forward; of one that comes twice in autumn the first one counts.
 */

const DAY_MS = 86_400_000;

/** The last moment at or before `now` at which the zone's clocks showed `hour` o'clock. */
export function lastBoundary(now: number, hour: number, timeZone: string): number {
  const today = localDay(now, timeZone);
  // Two steps are enough but where a whole day was skipped, as when a zone crossed the date line.
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

/** When the clocks first show that hour on that day. `day` is a local date as its UTC midnight. */
function momentOf(day: number, hour: number, timeZone: string): number {
  const wanted = day + hour * 3_600_000;
  // What the clocks are ahead of UTC by, before and after any change that this day may bring.
  const before = offsetAt(wanted - DAY_MS, timeZone);
  const after = offsetAt(wanted + DAY_MS, timeZone);
  const moments = [wanted - before, wanted - after].filter(
    (moment) => localTime(moment, timeZone) === wanted,
  );
  // No clock shows a skipped hour: by the old offset it begins at the moment of the change.
  return moments.length === 0 ? wanted - before : Math.min(...moments);
}

function offsetAt(time: number, timeZone: string): number {
  return localTime(time, timeZone) - (time - mod(time, 1_000));
}

/** What the zone's clocks show, to the second, as if it were UTC. */
function localTime(time: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(time)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Making one takes longer than all that is done with it. */
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
