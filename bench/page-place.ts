/** The browser, the server and the windows in which the page is measured. */

import type { Browser, Page } from "playwright-core";
import type { Report } from "./measure.ts";

export interface Place {
  readonly browser: Browser;
  readonly url: string;
  readonly report: Report;
  readonly messages: number;
  /** What the store has, in words. */
  readonly store: string;
}

/** Page loads, each in a new window; the median counts. */
export const LOADS = 10;
/**
 * A new window spends about a second of CPU time on the browser's own pages, such as the address bar's
 * list. The page is loaded after that, as in a browser that is already open.
 */
const SETTLE_MS = 2_000;

export async function withPage<Result>(
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

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return (
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN
  );
}
