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
const HALF_DAY = 43_200;

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
        // Half a day on each side: a bar stands in the middle of its day.
        x: { time: true, range: (_, min, max) => [min - HALF_DAY, max + HALF_DAY] },
        y: { range: (_, __, max) => [0, max === 0 ? 1 : max * 1.08] },
      },
      axes: [
        { ...axis, grid: { show: false } },
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
