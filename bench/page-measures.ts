/** Measurements inside the page. Each function is sent there as text. */

interface Rectangle {
  readonly top: number;
  readonly bottom: number;
}

interface Box {
  value: string;
  dispatchEvent(event: unknown): void;
  getBoundingClientRect(): Rectangle;
}

/** The parts of a browser used here: the bench is compiled without its types. */
interface InPage {
  readonly document: {
    querySelector(selector: string): Box | null;
    querySelectorAll(selector: string): Iterable<Box>;
    readonly body: unknown;
  };
  readonly Event: new (type: string, init: { bubbles: boolean }) => unknown;
  readonly MutationObserver: new (
    call: () => void,
  ) => { observe(place: unknown, what: object): void; disconnect(): void };
  readonly CSS: { escape(text: string): string };
  requestAnimationFrame(call: (time: number) => void): void;
}

/** Types questions letter by letter; measures from each keystroke to the frame with its results. */
export async function typing(questions: readonly string[]): Promise<number[]> {
  const page = globalThis as unknown as InPage;
  const box = page.document.querySelector("#query");
  const times: number[] = [];
  if (box === null) return times;
  const answers = (typed: string) =>
    new Promise<void>((resolve) => {
      const answered = `[data-answers="${page.CSS.escape(typed)}"]`;
      const look = () => {
        if (page.document.querySelector(answered) === null) return;
        observer.disconnect();
        resolve();
      };
      const observer = new page.MutationObserver(look);
      observer.observe(page.document.body, { subtree: true, childList: true, attributes: true });
      look();
    });
  // The task after a frame runs once the frame is painted.
  const painted = () =>
    new Promise<void>((resolve) => page.requestAnimationFrame(() => setTimeout(resolve)));
  for (const question of questions) {
    for (let length = 1; length <= question.length; length++) {
      const typed = question.slice(0, length);
      if (typed.endsWith(" ")) continue;
      const begun = performance.now();
      box.value = typed;
      box.dispatchEvent(new page.Event("input", { bubbles: true }));
      await answers(typed);
      await painted();
      times.push(performance.now() - begun);
      // About the speed of typing.
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  }
  return times;
}

/**
 * Runs before the page's own scripts: `paintedMs` becomes the time from the start of the navigation to
 * the frame that shows `selector`.
 */
export function watchPaint(selector: string): void {
  const page = globalThis as unknown as InPage & { paintedMs?: Promise<number> };
  page.paintedMs = new Promise((resolve) => {
    const observer = new page.MutationObserver(() => {
      if (page.document.querySelector(selector) === null) return;
      observer.disconnect();
      page.requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    });
    observer.observe(page.document, { subtree: true, childList: true, attributes: true });
  });
}

export interface Scrolled {
  /** Gaps between frames, in milliseconds. */
  readonly gaps: readonly number[];
  /** The longest time for which a placeholder was in view without a break, in milliseconds. */
  readonly placeholderMs: number;
}

/** Looks at each frame for `durationMs` while the session is scrolled from outside. */
export async function watchScrolling(durationMs: number): Promise<Scrolled> {
  const page = globalThis as unknown as InPage;
  const view = page.document.querySelector(".scroller")?.getBoundingClientRect();
  const isInView = ({ top, bottom }: Rectangle) =>
    view !== undefined && bottom > view.top && top < view.bottom;
  const showsPlaceholder = () =>
    [...page.document.querySelectorAll(".message.coming")].some((row) =>
      isInView(row.getBoundingClientRect()),
    );
  const gaps: number[] = [];
  let placeholderMs = 0;
  /** The last frame without a placeholder in view. */
  let clear = performance.now();
  let last = clear;
  const end = last + durationMs;
  while (last < end) {
    const now = await new Promise<number>((resolve) => page.requestAnimationFrame(resolve));
    gaps.push(now - last);
    if (showsPlaceholder()) placeholderMs = Math.max(placeholderMs, now - clear);
    else clear = now;
    last = now;
  }
  return { gaps, placeholderMs };
}
