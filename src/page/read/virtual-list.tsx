/** A virtual list: only rows near the view have elements. `anchored-list.ts` has its arithmetic. */

import { type Signal, signal } from "@preact/signals";
import { Component, type ComponentChildren, createRef } from "preact";
import {
  type Anchor,
  anchorAt,
  indexOf,
  type Measured,
  type Placed,
  place,
  type Range,
  scrollOf,
  sum,
  wantedRange,
} from "./anchored-list.ts";

export interface VirtualListProps {
  readonly total: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** Receives the range of rows that have elements, so that their messages can be loaded. */
  readonly onRange: (range: Range) => void;
  /** Receives whether the last row is in view; the list then follows appended rows. */
  readonly onEnd: (atEnd: boolean) => void;
  readonly start: Anchor;
  /** Receives the list, for jumps. Not `ref`, which Preact passes to components as a property. */
  readonly control: { current: VirtualList | null };
}

/** The pause in scrolling after which the scroll bar is corrected, in milliseconds. */
const IDLE_MS = 200;
/** The delay before rows outside of the view are added, in milliseconds: the first paint precedes them. */
const WIDEN_MS = 50;
/** The limit of rounds of measuring and adding rows: ends a loop that does not converge. */
const ROUNDS = 12;
/** The distance to the lower edge within which the end counts as reached, in pixels. */
const END_PX = 24;
/** A jump leaves this much of the row before the target in view. */
const JUMP_OFFSET_PX = 16;

export class VirtualList extends Component<VirtualListProps> {
  readonly #scroller = createRef<HTMLDivElement>();
  readonly #spacer = createRef<HTMLDivElement>();
  readonly #rows = createRef<HTMLDivElement>();
  readonly #range: Signal<Range>;
  #anchor: Anchor;
  #atEnd = false;
  #top = 0;
  #height = 0;
  /** The last `scrollTop` set by the list itself: a scroll event with this position is ignored. */
  #expected = 0;
  #heights: number[] = [];
  /** The number of rows and the height of the last one when the list was last placed. */
  #end = { total: -1, height: 0 };
  #observer: ResizeObserver | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #rounds = 0;
  /** False until the first paint, which has the rows in view only. */
  #isWide = false;
  #widening: ReturnType<typeof setTimeout> | undefined;

  constructor(props: VirtualListProps) {
    super(props);
    this.#anchor = props.start;
    const { index } = this.#anchor;
    this.#range = signal({ first: Math.max(0, index - 1), last: Math.min(props.total, index + 8) });
  }

  override componentDidMount(): void {
    this.props.control.current = this;
    const scroller = this.#scroller.current;
    const rows = this.#rows.current;
    if (scroller === null || rows === null) return;
    this.#observer = new ResizeObserver(() => this.#settleSoon());
    this.#observer.observe(scroller);
    this.#observer.observe(rows);
    this.#settle();
    // After the first placement, whose scrolling needs no handling.
    scroller.addEventListener("scroll", this.#takeScroll, { passive: true });
  }

  override componentDidUpdate(): void {
    this.#takeScroll();
    this.#settle();
  }

  override componentWillUnmount(): void {
    this.props.control.current = null;
    this.#observer?.disconnect();
    clearTimeout(this.#idle);
    clearTimeout(this.#widening);
    cancelAnimationFrame(this.#frame);
    this.#scroller.current?.removeEventListener("scroll", this.#takeScroll);
  }

  /** Brings a row to the upper part of the view. */
  jumpTo(index: number, offset: number = JUMP_OFFSET_PX): void {
    const { total } = this.props;
    const target = Math.max(0, Math.min(total - 1, index));
    this.#atEnd = false;
    this.#anchor = { index: target, offset };
    const { first, last } = this.#range.peek();
    if (target < first || target >= last) {
      this.#moveTo(target);
      return;
    }
    this.#settle();
  }

  jumpToEnd(): void {
    const { total } = this.props;
    this.#atEnd = true;
    this.#anchor = { index: Math.max(0, total - 1), offset: 0 };
    this.#end = { total: -1, height: 0 };
    if (this.#range.peek().last < total) this.#moveTo(total - 1);
    else this.#settle();
  }

  focus(): void {
    this.#scroller.current?.focus({ preventScroll: true });
  }

  /** The row at the upper edge. */
  get anchor(): Anchor {
    return this.#anchor;
  }

  #moveTo(index: number): void {
    const scroller = this.#scroller.current;
    if (scroller === null) return;
    this.#heights = [];
    this.#setScroll(scrollOf(index, this.props.total, scroller.clientHeight));
    this.#range.value = this.#rangeAround(index);
  }

  #rangeAround(index: number): Range {
    const { total } = this.props;
    return { first: Math.max(0, index - 6), last: Math.min(total, index + 8) };
  }

  /**
   * The event of a scroll comes after it: rows that are placed in between would move the view back to
   * the old anchor.
   */
  readonly #takeScroll = (): void => {
    const scroller = this.#scroller.current;
    if (scroller === null) return;
    const { scrollTop, clientHeight: view } = scroller;
    if (Math.abs(scrollTop - this.#expected) < 1.5) return;
    this.#expected = scrollTop;
    this.#isWide = true;
    const measured = this.#measured(view);
    const anchor = anchorAt(scrollTop, this.#top, measured);
    if (anchor === undefined) {
      // Dragged or flung beyond the rows that exist: the index follows from the scroll bar.
      const index = indexOf(scrollTop, this.props.total, view);
      this.#atEnd = index === this.props.total - 1;
      this.#anchor = { index, offset: 0 };
      this.#heights = [];
      this.#range.value = this.#rangeAround(index);
    } else {
      this.#anchor = anchor;
      const end = this.#top + sum(this.#heights);
      const isLast = measured.range.last >= this.props.total;
      this.#setAtEnd(isLast && scrollTop + view >= end - END_PX);
      this.#settle();
    }
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#putBarRight(), IDLE_MS);
  };

  /** Anchors the view at a clicked row, so that it keeps its place when it unfolds. */
  readonly #onClick = (event: Event): void => {
    const scroller = this.#scroller.current;
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (scroller === null || row === null) return;
    const offset = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    this.#anchor = { index: Number(row.dataset["index"]), offset };
    this.#atEnd = false;
  };

  #measured(view: number): Measured {
    return { range: this.#range.peek(), heights: this.#heights, total: this.props.total, view };
  }

  /** Measures and places the rows, and requests missing or surplus ones. */
  #settle(): void {
    const scroller = this.#scroller.current;
    const rows = this.#rows.current;
    if (scroller === null || rows === null) return;
    const view = scroller.clientHeight;
    if (view === 0) return;
    const { total } = this.props;
    const range = this.#range.peek();
    if (range.last > total || (range.last < total && range.last - range.first < 1)) {
      this.#range.value = this.#rangeAround(Math.min(this.#anchor.index, total - 1));
      return;
    }
    this.#heights = [...rows.children].map((row) => row.getBoundingClientRect().height);
    if (this.#heights.length !== range.last - range.first) return;
    const measured = this.#measured(view);
    if (this.#atEnd && range.last >= total && this.#hasGrown(total)) {
      this.#anchor = this.#endAnchor(view, total);
    }
    const { scrollTop } = scroller;
    const placed = place(this.#anchor, scrollTop, measured);
    this.#apply(placed, scrollTop);
    const wanted = wantedRange(placed, measured, this.#isWide ? view : 0);
    const isMissing = wanted.first < range.first || wanted.last > range.last;
    const isMany = wanted.first > range.first || wanted.last < range.last;
    if ((isMissing && this.#rounds++ < ROUNDS) || (isMany && this.#rounds === 0)) {
      this.#range.value = wanted;
      return;
    }
    this.#rounds = 0;
    this.props.onRange(range);
    const end = placed.top + sum(this.#heights);
    this.#setAtEnd(range.last >= total && placed.scrollTop + view >= end - END_PX);
    if (!this.#isWide) this.#widenSoon();
  }

  #widenSoon(): void {
    this.#widening ??= setTimeout(() => {
      this.#takeScroll();
      this.#isWide = true;
      this.#settle();
    }, WIDEN_MS);
  }

  /**
   * Whether the end of the list has moved by new content. Rows that are all in view stay where they are
   * when one above the last grows, as by an image that has loaded: its reader has not scrolled.
   */
  #hasGrown(total: number): boolean {
    const height = this.#heights.at(-1) ?? 0;
    const { index, offset } = this.#anchor;
    const isSame = total === this.#end.total && Math.abs(height - this.#end.height) < 0.5;
    this.#end = { total, height };
    return !isSame || index !== 0 || offset !== 0;
  }

  /** Aligns the last row with the lower edge, or the first with the upper edge if all rows fit. */
  #endAnchor(view: number, total: number): Anchor {
    const range = this.#range.peek();
    const rows = sum(this.#heights);
    if (range.first === 0 && rows <= view) return { index: 0, offset: 0 };
    return { index: total - 1, offset: view - (this.#heights.at(-1) ?? 0) };
  }

  #apply(placed: Placed, scrollTop: number): void {
    const rows = this.#rows.current;
    const spacer = this.#spacer.current;
    if (rows === null || spacer === null) return;
    if (placed.height !== this.#height) {
      spacer.style.height = `${placed.height}px`;
      this.#height = placed.height;
    }
    if (placed.top !== this.#top) {
      rows.style.transform = `translateY(${placed.top}px)`;
      this.#top = placed.top;
    }
    if (Math.abs(placed.scrollTop - scrollTop) > 0.5) this.#setScroll(placed.scrollTop);
    else this.#expected = scrollTop;
  }

  #setScroll(top: number): void {
    const scroller = this.#scroller.current;
    if (scroller === null) return;
    scroller.scrollTop = top;
    this.#expected = scroller.scrollTop;
  }

  #setAtEnd(atEnd: boolean): void {
    this.#atEnd = atEnd;
    this.props.onEnd(atEnd);
  }

  /** Scrolling moves the bar by pixels; this moves it to the position of the anchor's index. */
  #putBarRight(): void {
    const scroller = this.#scroller.current;
    if (scroller === null) return;
    const { scrollTop, clientHeight: view } = scroller;
    const { total } = this.props;
    const range = this.#range.peek();
    const target = scrollOf(this.#anchor.index, total, view);
    if (range.first === 0 || range.last >= total || Math.abs(target - scrollTop) < view) return;
    const shift = target - scrollTop;
    const placed = place(this.#anchor, scrollTop + shift, this.#measured(view));
    this.#apply(placed, scrollTop);
  }

  #settleSoon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#takeScroll();
      this.#settle();
    });
  }

  override render() {
    const { first, last } = this.#range.value;
    const { row, label } = this.props;
    const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    return (
      <div
        class="scroller"
        ref={this.#scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys that scroll need a place
        tabIndex={0}
        role="feed"
        aria-label={label}
      >
        <div class="spacer" ref={this.#spacer}>
          <div class="rows" ref={this.#rows} onClickCapture={this.#onClick}>
            {indexes.map((index) => (
              <div key={index} class="row" data-index={index}>
                {row(index)}
              </div>
            ))}
          </div>
        </div>
      </div>
    );
  }
}
