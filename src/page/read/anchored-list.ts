/**
 * The arithmetic of a virtual list.
 *
 * The scroll bar shows the place by index: its travel is bounded, because browsers cut an element
 * at 33,554,428 px and round positions long before. The view is anchored at a row and its distance
 * from the upper edge; rows above it may load, fold and grow without moving it.
 */

/** The estimated height of a row that was not measured yet, in pixels. */
export const ROW_PX = 90;

/** In pixels: 32-bit floats lose half pixels beyond it. */
const MAX_TRAVEL_PX = 2_000_000;

export interface Range {
  readonly first: number;
  /** Exclusive. */
  readonly last: number;
}

export interface Anchor {
  readonly index: number;
  /** From the upper edge of the view to that of the row. */
  readonly offset: number;
}

/** The scroll height of the list, in pixels. */
export function travel(total: number, view: number): number {
  return Math.max(view, Math.min(total * ROW_PX, MAX_TRAVEL_PX));
}

/** The `scrollTop` for a row at the upper edge. */
export function scrollOf(index: number, total: number, view: number): number {
  if (total <= 1) return 0;
  return ((travel(total, view) - view) * index) / (total - 1);
}

/** The row for a `scrollTop`: the inverse of `scrollOf`. */
export function indexOf(scrollTop: number, total: number, view: number): number {
  const room = travel(total, view) - view;
  if (room <= 0 || total === 0) return 0;
  return Math.max(0, Math.min(total - 1, Math.round((scrollTop / room) * (total - 1))));
}

export interface Measured {
  readonly range: Range;
  /** Heights of the rows of the range, in order. */
  readonly heights: readonly number[];
  readonly total: number;
  readonly view: number;
}

export interface Placed {
  /** Offset of the first row from the top of the list. */
  readonly top: number;
  readonly scrollTop: number;
  /** Height of the whole list. */
  readonly height: number;
}

/** Places the rows by the anchor, and moves the scroll bar if they would not fit otherwise. */
export function place(anchor: Anchor, scrollTop: number, measured: Measured): Placed {
  const { range, heights, total, view } = measured;
  const above = sum(heights.slice(0, Math.max(0, anchor.index - range.first)));
  const rows = sum(heights);
  let top = scrollTop + anchor.offset - above;
  let scroll = scrollTop;
  // Rows that do not exist yet need room above those that do.
  const wanted = range.first === 0 ? 0 : Math.max(view, range.first);
  if ((range.first === 0 && top !== 0) || top < wanted) {
    const target =
      range.first === 0
        ? 0
        : Math.max(wanted, scrollOf(anchor.index, total, view) + anchor.offset - above);
    scroll += target - top;
    top = target;
  }
  const end = top + rows;
  const height =
    range.last >= total
      ? end
      : Math.max(travel(total, view), end + (total - range.last) * 2 + view);
  return { top, scrollTop: Math.max(0, scroll), height: Math.max(view, height) };
}

/** The rows in view and about `margin` pixels on each side; by default one view. */
export function wantedRange(
  placed: Placed,
  measured: Measured,
  margin: number = measured.view,
): Range {
  const { range, heights, total, view } = measured;
  const from = placed.scrollTop - margin;
  const to = placed.scrollTop + view + margin;
  let { first, last } = range;
  let top = placed.top;
  let bottom = placed.top + sum(heights);
  while (first > 0 && top > from) {
    first--;
    top -= ROW_PX;
  }
  while (last < total && bottom < to) {
    last++;
    bottom += ROW_PX;
  }
  // Remove distant rows with hysteresis, or the same rows would come and go.
  let edge = placed.top;
  for (const [at, height] of heights.entries()) {
    if (edge + height < from - view && range.first + at === first && first < last - 1) first++;
    edge += height;
  }
  for (let at = heights.length - 1; at > 0; at--) {
    const height = heights[at] ?? 0;
    edge -= height;
    if (edge > to + view && range.first + at + 1 === last && last > first + 1) last--;
  }
  return { first, last };
}

/** The row at the upper edge of the view; undefined if none of the range is in view. */
export function anchorAt(scrollTop: number, top: number, measured: Measured): Anchor | undefined {
  const { range, heights, view } = measured;
  let edge = top;
  if (edge > scrollTop + view) return undefined;
  for (const [at, height] of heights.entries()) {
    if (edge + height > scrollTop) return { index: range.first + at, offset: edge - scrollTop };
    edge += height;
  }
  return undefined;
}

export function sum(heights: readonly number[]): number {
  let total = 0;
  for (const height of heights) total += height;
  return total;
}
