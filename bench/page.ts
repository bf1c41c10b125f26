/** `npm run bench -- page`: the page in a real Chromium, over a store of many messages. */

import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../scripts/test-browser.js";
import { connect } from "../src/client/index.ts";
import { textOf } from "../src/index.ts";
import { type BenchOptions, type Figures, Report, withFolder } from "./measure.ts";
import { frames, type Measurable, typing, watchPaint } from "./page-measures.ts";
import { fillForServer, startServer } from "./serve-subjects.ts";

const LONG = 100_000;
/** Appends that are waited for, one after another. */
const APPENDS = 20;
const LOADS = 10;
const QUESTIONS = 5;
/** Wheel turns of 400 px each while frames are counted. */
const TURNS = 300;
/**
 * A new window loads parts of the browser itself, such as the address bar's list, for about a second of
 * processor time. The page is loaded after that, as in a browser that a person has open.
 */
const SETTLE_MS = 2_000;

export async function benchPage(options: BenchOptions): Promise<boolean> {
  const report = new Report("page");
  const wanted = (name: string) => name.includes(options.only);
  const found = findBrowser();
  if (found === undefined) {
    console.error(`There is no browser: ${HOW_TO_GET_A_BROWSER}.`);
    return false;
  }
  await withFolder(options.folder, async (folder) => {
    const address = join(folder, "page.db");
    await fillForServer(address, options.messages);
    const server = await startServer(address);
    const browser = await chromium.launch({
      executablePath: found.path,
      env: { ...process.env, ...found.env },
      chromiumSandbox: process.getuid?.() !== 0,
    });
    const place = { browser, url: server.url, report, messages: options.messages };
    try {
      const engine = await connect(server.url);
      await engine.maintainIndex("upkeep");
      await engine.close();
      if (wanted("first paint")) await measureFirstPaint(place);
      if (wanted("typing")) await measureTyping(place);
      if (wanted("long session")) await measureLong(place);
    } finally {
      await browser.close();
      await server.stop();
    }
  });
  return report.met;
}

interface Place {
  readonly browser: Browser;
  readonly url: string;
  readonly report: Report;
  readonly messages: number;
}

async function withPage<Result>(
  { browser }: Place,
  use: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    const page = await context.newPage();
    await page.waitForTimeout(SETTLE_MS);
    return await use(page);
  } finally {
    await context.close();
  }
}

async function measureFirstPaint(place: Place): Promise<void> {
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    await withPage(place, async (page) => {
      await page.goto(place.url);
      await page.waitForSelector(".session");
      times.push(
        await page.evaluate(
          () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
        ),
      );
    });
  }
  const figures = { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95) };
  place.report.measurement("sqlite", "first paint", LOADS, figures);
  place.report.bar("first contentful paint, p50 in ms", figures.p50Ms, 150);
}

async function measureTyping(place: Place): Promise<void> {
  const figures = await withPage(place, async (page) => {
    await page.goto(place.url);
    await page.waitForSelector(".session");
    const times = await page.evaluate(typing, await someQuestions(place.url));
    return { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95), keys: times.length };
  });
  place.report.measurement("sqlite", `typing among ${place.messages} messages`, 1, figures);
  const isLarge = place.messages > 100_000;
  const name = `keystroke to painted results among ${place.messages} messages`;
  place.report.bar(`${name}, p50 in ms`, figures.p50Ms, isLarge ? 80 : 40);
  if (!isLarge) place.report.bar(`${name}, p95 in ms`, figures.p95Ms, 100);
}

/** The first words of messages that the store holds. */
async function someQuestions(url: string): Promise<readonly string[]> {
  const engine = await connect(url);
  const { sessions } = await engine.listSessions({ limit: QUESTIONS });
  const questions = await Promise.all(
    sessions.map(async ({ id }) => {
      const [first] = (await engine.listMessages(id, { limit: 1 })).messages;
      return textOf(first?.blocks ?? [])
        .split(/\s+/)
        .slice(0, 4)
        .join(" ");
    }),
  );
  await engine.close();
  return questions;
}

async function measureLong(place: Place): Promise<void> {
  const engine = await connect(place.url);
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
  // What is measured is the page, not the indexing of what was written a moment ago.
  await engine.maintainIndex("upkeep");
  const figures: Record<string, number> = {};
  const link = `${place.url}/#/session/${session.id}?m=${middle}`;
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    times.push(await withPage(place, (page) => linkMs(page, link)));
  }
  figures["linkP50Ms"] = percentile(times, 50);
  figures["linkP95Ms"] = percentile(times, 95);
  await withPage(place, async (page) => {
    await page.goto(link);
    await page.waitForSelector(".message.target .content");
    const counting = page.evaluate(frames);
    await page.mouse.move(600, 500);
    for (let turn = 0; turn < TURNS; turn++) await page.mouse.wheel(0, 400);
    const gaps = await counting;
    figures["frameP95Ms"] = percentile(gaps, 95);
    figures["heapMb"] = await heapMb(page);
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
    figures["seenP50Ms"] = percentile(seen, 50);
  });
  await engine.close();
  place.report.measurement("sqlite", `long session of ${LONG}`, 1, figures as Figures);
  place.report.bar("link into a session of 100,000, p50 in ms", figures["linkP50Ms"], 200);
  place.report.bar("frames while scrolling it, p95 in ms", figures["frameP95Ms"], 20);
  place.report.bar("heap after scrolling it, in MB", figures["heapMb"], 80);
  place.report.bar("append to seen, p50 in ms", figures["seenP50Ms"], 150);
}

/** From the start of the navigation to the frame that shows the linked message. */
async function linkMs(page: Page, link: string): Promise<number> {
  await page.addInitScript(watchPaint, ".message.target .content");
  await page.goto(link);
  return page.evaluate(
    () => (globalThis as { paintedMs?: Promise<number> }).paintedMs ?? Number.NaN,
  );
}

async function heapMb(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}

function percentile(values: Measurable, percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return (
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN
  );
}
