/** Times, sizes and tables, as people read them. */

import { formatCount } from "../model/display.ts";
import { clip, oneLine, widthOf } from "./text.ts";

export { formatCount };

/** `2026-05-04 14:03`, local. */
export function formatTime(ms: number): string {
  const time = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

const AGES: readonly (readonly [unit: string, ms: number])[] = [
  ["y", 365 * 86_400_000],
  ["mo", 30 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** `5m`, `3h`, `12d`, `4mo`, `2y`; `now` within a minute. */
export function formatAge(ms: number): string {
  const [unit, size] = AGES.find(([, each]) => ms >= each) ?? ["", 1];
  return unit === "" ? "now" : `${Math.floor(ms / size)}${unit}`;
}

/** `950`, `1.2k`, `80.7M`, `1.3G`. */
export function formatAmount(count: number): string {
  if (count < 1_000) return String(count);
  const units = ["k", "M", "G", "T"];
  let value = count;
  let unit = -1;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${value.toFixed(1)}${units[unit]}`;
}

/** `$1,234.56`; amounts below a cent are shown as such. */
export function formatDollars(microdollars: number): string {
  if (microdollars > 0 && microdollars < 10_000) return "<$0.01";
  const cents = Math.round(microdollars / 10_000);
  return `$${formatCount(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
}

/** `1 session`, `2 sessions`, `2 entries`. */
export function counted(count: number, noun: string): string {
  const plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** `512 B`, `1.5 KiB`, `20.0 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** The lines of a table under `header`. The last column takes the rest of `columns`. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): string[] {
  const cells = [header, ...rows.map((row) => row.map(oneLine))];
  const widths = header.map((_, i) => Math.max(...cells.map((row) => widthOf(row[i] ?? ""))));
  return cells.map((row) => {
    const line = row
      .map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0)))
      .join("  ");
    return clip(line.trimEnd(), columns);
  });
}

export function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - widthOf(cell)));
}
