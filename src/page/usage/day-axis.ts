/** The axes of a chart by day: its days without a gap, and its round numbers. */

import { day as dayOf } from "../parts/words.ts";

export interface DayValue {
  /** `2026-05-04`. */
  readonly day: string;
  readonly value: number;
}

/** Fills in the days without usage. */
export function fillDays(days: readonly DayValue[]): readonly DayValue[] {
  const values = new Map(days.map(({ day, value }) => [day, value]));
  const names = [...values.keys()].sort();
  const filled: DayValue[] = [];
  const last = names.at(-1) ?? "";
  for (let day = names[0] ?? ""; day !== "" && day <= last; day = nextDay(day)) {
    filled.push({ day, value: values.get(day) ?? 0 });
  }
  return filled;
}

function nextDay(name: string): string {
  const [year = 0, month = 1, date = 1] = name.split("-").map(Number);
  return dayOf(new Date(year, month - 1, date + 1).getTime());
}

/** From 0 to the first round number at or above `max`, in three to five steps of 1, 2 or 5 times a power of ten. */
export function ticksOf(max: number): readonly number[] {
  if (max <= 0) return [0, 1];
  const least = max / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, at) => at * step);
}
