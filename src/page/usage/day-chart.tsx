/**
 * A chart of usage by day: bars of the style sheet, and a table below as its text alternative. It formats
 * no date or number by the browser's language, whose tag may be invalid (`en-US@posix`).
 */

import { type DayValue, fillDays, ticksOf } from "./day-axis.ts";

/** The limit of days with a label below the chart. */
const MAX_LABELS = 6;

export function DayChart(props: {
  readonly label: string;
  readonly days: readonly DayValue[];
  readonly format: (value: number) => string;
}) {
  const { label, days, format } = props;
  const filled = fillDays(days);
  const ticks = ticksOf(Math.max(0, ...filled.map(({ value }) => value)));
  const top = ticks.at(-1) ?? 1;
  const percent = (value: number) => `${(100 * value) / top}%`;
  const labelled = Math.ceil(filled.length / MAX_LABELS);
  return (
    <div class="chart" role="img" aria-label={`${label}; the table below has the figures`}>
      {ticks.map((tick) => (
        <span key={tick} class="tick" style={{ bottom: percent(tick) }}>
          {format(tick)}
        </span>
      ))}
      <div class="days">
        {filled.map(({ day, value }, at) => (
          <div key={day} title={`${day}: ${format(value)}`}>
            <i style={{ height: percent(value) }} />
            {at % labelled === 0 && <small>{day.slice(5)}</small>}
          </div>
        ))}
      </div>
    </div>
  );
}
