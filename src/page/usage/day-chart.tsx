/** A chart of usage by day, with a table as its text alternative. */

import { useEffect, useRef } from "preact/hooks";
import { theme } from "../parts/theme.ts";

export interface DayValue {
  /** `2026-05-04`. */
  readonly day: string;
  readonly value: number;
}

export function DayChart(props: {
  readonly label: string;
  readonly days: readonly DayValue[];
  readonly format: (value: number) => string;
}) {
  const { label, days, format } = props;
  const place = useRef<HTMLDivElement>(null);
  const chosen = theme.value;
  useEffect(() => {
    const element = place.current;
    if (element === null || days.length === 0) return;
    let remove = () => {};
    let isGone = false;
    void import("../chart/day-bars.ts").then(({ drawDayBars }) => {
      if (isGone) return;
      const filled = fillDays(days);
      const style = getComputedStyle(element);
      const chart = drawDayBars(element, {
        days: filled.map(({ time }) => time),
        values: filled.map(({ value }) => value),
        format,
        colour: style.getPropertyValue("color"),
        text: getComputedStyle(element.querySelector(".ink") ?? element).color,
        line: style.borderTopColor,
      });
      const observer = new ResizeObserver(() => chart.resize(element.clientWidth));
      observer.observe(element);
      remove = () => {
        observer.disconnect();
        chart.remove();
      };
    });
    return () => {
      isGone = true;
      remove();
    };
  }, [days, format, chosen]);
  return (
    <div
      class="chart"
      ref={place}
      role="img"
      aria-label={`${label}; the table below has the figures`}
    >
      <span class="ink" />
    </div>
  );
}

/** Fills in the days without usage. */
export function fillDays(
  days: readonly DayValue[],
): readonly { readonly time: number; readonly value: number }[] {
  const values = new Map(days.map(({ day, value }) => [day, value]));
  const names = [...values.keys()].sort();
  const [first, last] = [names[0], names.at(-1)];
  if (first === undefined || last === undefined) return [];
  const filled: { time: number; value: number }[] = [];
  for (let date = midnight(first); date <= midnight(last); date = nextDay(date)) {
    const two = (value: number) => String(value).padStart(2, "0");
    const name = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    filled.push({ time: date.getTime() / 1000, value: values.get(name) ?? 0 });
  }
  return filled;
}

function midnight(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date);
}

function nextDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);
}
