/** Bars by day, drawn on a canvas. Loaded when the first chart is seen. */

import uPlot from "uplot";

export interface DayBars {
  /** Midnights, in seconds since 1970, ascending. */
  readonly days: readonly number[];
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  readonly colour: string;
  readonly text: string;
  readonly line: string;
}

export interface DrawnChart {
  resize(width: number): void;
  remove(): void;
}

const HEIGHT = 190;
/** In seconds. */
const DAY = 86_400;
const HALF_DAY = DAY / 2;
/** The least span of the axis: a single day would fill the chart. */
const LEAST_SECONDS = 7 * DAY;
/** Distances of ticks: whole days only. */
const INCREMENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 60, 90, 120, 180, 365, 730].map(
  (days) => days * DAY,
);

export function drawDayBars(place: HTMLElement, bars: DayBars): DrawnChart {
  const { days, values, format, colour, text, line } = bars;
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const draw = uPlot.paths.bars?.({ size: [0.75, 40] });
  const chart = new uPlot(
    {
      width: Math.max(200, place.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // uPlot's default range around a single day is three years.
        x: { time: true, range: () => spanOf(days) },
        y: { range: (_, __, max) => [0, max === 0 ? 1 : max * 1.08] },
      },
      axes: [
        { ...axis, grid: { show: false }, incrs: INCREMENTS },
        { ...axis, size: 64, values: (_, ticks) => ticks.map(format) },
      ],
      series: [
        {},
        {
          fill: colour,
          stroke: colour,
          width: 0,
          points: { show: false },
          ...(draw === undefined ? {} : { paths: draw }),
        },
      ],
    },
    [[...days], [...values]],
    place,
  );
  return {
    resize: (width) => chart.setSize({ width: Math.max(200, width), height: HEIGHT }),
    remove: () => chart.destroy(),
  };
}

/** From the first to the last day, with room for half a bar on each side. */
function spanOf(days: readonly number[]): [number, number] {
  const first = days[0] ?? 0;
  const last = days.at(-1) ?? first;
  const room = Math.max(HALF_DAY, (LEAST_SECONDS - (last - first)) / 2);
  return [first - room, last + room];
}
