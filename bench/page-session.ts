/** A session of 100,000 messages in the page: links into it, scrolling, memory, growth. */

import type { Page } from "playwright-core";
import { connect, type RemoteEngine, type RemoteSession } from "../src/client/index.ts";
import { type Scrolled, watchPaint, watchScrolling } from "./page-measures.ts";
import { LOADS, type Place, percentile, withPage } from "./page-place.ts";

const LONG = 100_000;
/** Measured appends, one after another. */
const APPENDS = 20;
/** Pixels per wheel event. */
const TURN_PX = 400;
const SECONDS = 5;
const MINUTES = 5;
/** The longest time for which a placeholder may be in view, in milliseconds. */
const MAX_PLACEHOLDER_MS = 100;
const TARGET = ".message.target .content";

interface LongSession {
  readonly session: RemoteSession;
  /** An address of the page: the message in the middle. */
  readonly link: string;
}

export async function measureLong(place: Place): Promise<void> {
  const engine = await connect(place.url);
  const { session, link } = await fill(place, engine);
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    times.push(await withPage(place, (page) => linkMs(page, link)));
  }
  const figures = await withPage(place, async (page) => {
    await openLink(page, link);
    const { gaps, placeholderMs } = await scroll(page, SECONDS * 1_000);
    return {
      linkP50Ms: percentile(times, 50),
      linkP95Ms: percentile(times, 95),
      frameP95Ms: percentile(gaps, 95),
      placeholderMs,
      heapMb: await heapMb(page),
      seenP50Ms: percentile(await appendsMs(page, session), 50),
    };
  });
  await engine.close();
  const { report } = place;
  report.measurement("sqlite", `long session of ${LONG}`, 1, figures);
  report.bar("link into a session of 100,000, p50 in ms", figures.linkP50Ms, 200);
  report.bar("frames while scrolling it, p95 in ms", figures.frameP95Ms, 20);
  report.bar("placeholder in view, longest in ms", figures.placeholderMs, MAX_PLACEHOLDER_MS);
  report.bar("heap after scrolling it, in MB", figures.heapMb, 80);
  report.bar("append to seen, p50 in ms", figures.seenP50Ms, 150);
}

/** Leak check: scrolls without a pause and measures the heap after each minute. */
export async function measureMinutes(place: Place): Promise<void> {
  const engine = await connect(place.url);
  const { link } = await fill(place, engine);
  await engine.close();
  const figures = await withPage(place, async (page) => {
    await openLink(page, link);
    const gaps: number[] = [];
    const heaps: number[] = [];
    let placeholderMs = 0;
    for (let minute = 0; minute < MINUTES; minute++) {
      const scrolled = await scroll(page, 60_000);
      gaps.push(...scrolled.gaps);
      placeholderMs = Math.max(placeholderMs, scrolled.placeholderMs);
      heaps.push(await heapMb(page));
    }
    return {
      frameP95Ms: percentile(gaps, 95),
      placeholderMs,
      firstHeapMb: heaps[0] ?? Number.NaN,
      lastHeapMb: heaps.at(-1) ?? Number.NaN,
    };
  });
  const { report } = place;
  report.measurement("sqlite", "five minutes of scrolling", 1, figures);
  report.bar("frames in five minutes, p95 in ms", figures.frameP95Ms, 20);
  report.bar("placeholder in five minutes, in ms", figures.placeholderMs, MAX_PLACEHOLDER_MS);
  report.bar("heap after five minutes, in MB", figures.lastHeapMb, 80);
}

async function fill({ url }: Place, engine: RemoteEngine): Promise<LongSession> {
  const session = await engine.createSession({ agent: "bench", createdBy: "b", title: "Long" });
  let middle = "";
  for (let from = 0; from < LONG; from += 500) {
    const entries = await session.append(
      Array.from({ length: 500 }, (_, at) => ({
        role: "user" as const,
        actor: "b",
        content: `Message ${from + at}. ${"some more words. ".repeat((at * 7) % 40)}`,
      })),
    );
    if (from === LONG / 2) middle = entries[0]?.id ?? "";
  }
  // Indexing of the new messages would compete with the page for the processor.
  await engine.maintainIndex("maintain");
  return { session, link: `${url}/#/session/${session.id}?m=${middle}` };
}

/** From the start of the navigation to the frame that shows the linked message. */
async function linkMs(page: Page, link: string): Promise<number> {
  await page.addInitScript(watchPaint, TARGET);
  await page.goto(link);
  return page.evaluate(
    () => (globalThis as { paintedMs?: Promise<number> }).paintedMs ?? Number.NaN,
  );
}

async function openLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForSelector(TARGET);
}

/** Sends wheel events as fast as the browser handles them. */
async function scroll(page: Page, durationMs: number): Promise<Scrolled> {
  let isOver = false;
  const watching = page.evaluate(watchScrolling, durationMs).finally(() => {
    isOver = true;
  });
  await page.mouse.move(600, 500);
  while (!isOver) await page.mouse.wheel(0, TURN_PX);
  return watching;
}

/** From each append to the text in the page, whose end is in view. */
async function appendsMs(page: Page, session: RemoteSession): Promise<readonly number[]> {
  await page.focus(".scroller");
  await page.keyboard.press("End");
  await page.getByText(`Message ${LONG - 1}.`).waitFor();
  const seen: number[] = [];
  for (let at = 0; at < APPENDS; at++) {
    const shown = page.getByText(`Newcomer ${at}.`).waitFor();
    const appended = performance.now();
    await session.append({ role: "user", actor: "b", content: `Newcomer ${at}.` });
    await shown;
    seen.push(performance.now() - appended);
  }
  return seen;
}

async function heapMb(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  await client.detach();
  return usedSize / 1e6;
}
