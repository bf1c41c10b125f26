/** Times, numbers and names as people read them. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** As the command line writes ages: `5m`, `3h`, `2d`, `4mo`. */
export function age(time: number, now: number = Date.now()): string {
  const ms = Math.max(0, now - time);
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  if (ms < 60 * DAY) return `${Math.floor(ms / DAY)}d`;
  if (ms < 730 * DAY) return `${Math.floor(ms / (30.44 * DAY))}mo`;
  return `${Math.floor(ms / (365.25 * DAY))}y`;
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export function moment(time: number): string {
  return MOMENT.format(time);
}

export function clock(time: number): string {
  return CLOCK.format(time);
}

/** `2026-05-04`, in the reader's own time zone. */
export function day(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const WHOLE = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function whole(value: number): string {
  return WHOLE.format(value);
}

export function short(value: number): string {
  return SHORT.format(value);
}

export function dollars(microUsd: number): string {
  const usd = microUsd / 1e6;
  return `$${usd >= 100 ? WHOLE.format(Math.round(usd)) : usd.toFixed(2)}`;
}

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** Maps each path to its shortest unique suffix, or to itself if it has none. */
export function distinctEnds(paths: readonly string[]): ReadonlyMap<string, string> {
  const parts = new Map(paths.map((path) => [path, path.split(/[/\\]/).filter(Boolean)]));
  const ends = new Map<string, string>();
  for (let count = 1; ends.size < parts.size; count++) {
    const open = [...parts].filter(([path]) => !ends.has(path));
    for (const [end, alike] of Map.groupBy(open, ([, own]) => own.slice(-count).join("/"))) {
      // A number alone, as worktrees are named, tells nothing.
      const [only] = alike.length === 1 && !/^\d+$/.test(end) ? alike : [];
      if (only !== undefined) ends.set(only[0], end || only[0]);
      for (const [path, own] of alike) if (own.length < count) ends.set(path, path);
    }
  }
  return ends;
}

/** The end of a path, of either kind of system: two parts where the last is but a number, as of worktrees. */
export function projectName(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  const isTold = !/^\d*$/.test(parts.at(-1) ?? "");
  return parts.slice(isTold ? -1 : -2).join("/") || path;
}
