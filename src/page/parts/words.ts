/** Formats times, numbers, names, calls and reports. */

import type { RemoteEngine } from "../../client/index.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `5m`, `3h`, `2d`, `4mo`: the format of the command line. */
export function age(time: number, now: number = Date.now()): string {
  const ms = Math.max(0, now - time);
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  if (ms < 60 * DAY) return `${Math.floor(ms / DAY)}d`;
  if (ms < 730 * DAY) return `${Math.floor(ms / (30.44 * DAY))}mo`;
  return `${Math.floor(ms / (365.25 * DAY))}y`;
}

// `Intl` is avoided: its first date format takes 50 to 100 ms of a new page.

/** `2026-05-04 09:53`, in the reader's time zone, as the command line writes times. */
export function moment(time: number): string {
  return `${day(time)} ${clock(time)}`;
}

/** `09:53`, in the reader's time zone. */
export function clock(time: number): string {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `2026-05-04`, in the reader's time zone. */
export function day(time: number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** `1,234,567`. */
export function whole(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3}){1,7}$)/g, ",");
}

const UNITS = ["", "K", "M", "B", "T"];

/** `1.2M`: one decimal below 1,000 of a unit. */
export function short(value: number): string {
  let scaled = value;
  let unit = 0;
  while (unit < UNITS.length - 1 && Math.round(scaled * 10) / 10 >= 1000) {
    scaled /= 1000;
    unit++;
  }
  return `${Math.round(scaled * 10) / 10}${UNITS[unit]}`;
}

export function dollars(microUsd: number): string {
  const usd = microUsd / 1e6;
  return `$${usd >= 100 ? whole(usd) : usd.toFixed(2)}`;
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

/** `The newest 100 of 123 sub-agents.`; empty if all are shown. */
export function newestOf(most: number, all: number, what: string): string {
  return all > most ? `The newest ${most} of ${whole(all)} ${what}.` : "";
}

/** Maps each path to its shortest unique suffix, or to itself if it has none. */
export function distinctEnds(paths: readonly string[]): ReadonlyMap<string, string> {
  const parts = new Map(paths.map((path) => [path, path.split(/[/\\]/).filter(Boolean)]));
  const ends = new Map<string, string>();
  for (let count = 1; ends.size < parts.size; count++) {
    const open = [...parts].filter(([path]) => !ends.has(path));
    for (const [end, alike] of Map.groupBy(open, ([, own]) => own.slice(-count).join("/"))) {
      // A number alone, as in names of worktrees, does not identify a project.
      const [only] = alike.length === 1 && !/^\d+$/.test(end) ? alike : [];
      if (only !== undefined) ends.set(only[0], end || only[0]);
      for (const [path, own] of alike) if (own.length < count) ends.set(path, path);
    }
  }
  return ends;
}

/** ECMA-48 control sequences, such as the colours that commands print, and single escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Removes the control sequences. */
export function withoutAnsi(text: string): string {
  return text.includes("\u001b") ? text.replace(ANSI, "") : text;
}

/** A path below a folder without that folder; any other text as it is. */
export function below(folder: string | undefined, text: string): string {
  if (folder === undefined || folder === "") return text;
  const start = /[/\\]$/.test(folder) ? folder : `${folder}${folder.includes("\\") ? "\\" : "/"}`;
  return text.startsWith(start) && text.length > start.length ? text.slice(start.length) : text;
}

// The report of a verification as one sentence.

type VerifyReport = Awaited<ReturnType<RemoteEngine["verify"]>>;

export function tellReport(report: Omit<VerifyReport, "tenants" | "sessions" | "heads">): string {
  const { ok, entries, changes, damage, problems, problemCount } = report;
  if (ok) {
    return `No problem: the hashes of ${counted(entries, "entry", "entries")} and ${counted(changes, "change")} match.`;
  }
  const places = problems.map(
    ({ problem, entryId, sessionId, tenant }) => `${problem} (${entryId ?? sessionId ?? tenant})`,
  );
  const [first] = [...damage, ...places];
  const count = counted(damage.length + problemCount, "problem");
  return first === undefined ? `${count}.` : `${count}, the first: ${first}`;
}
