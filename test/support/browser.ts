/** Pages in the browser of the test run (`browser-server.ts`), each with storage of its own. */

import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, describe, inject } from "vitest";

/** Like `describe`; skipped where there is no browser. */
export const describeInBrowser: typeof describe.skip = describe.skipIf(
  inject("browser") === undefined,
);

export interface PageOptions extends BrowserContextOptions {
  /** The test's hook, which closes the page. */
  readonly onTestFinished: (close: () => Promise<void>) => void;
  /** An idle page that shows this site may be given as it is. Otherwise the page is empty. */
  readonly at?: string;
}

let connected: Promise<Browser> | undefined;

/** Our page's view that follows nothing, and unmounts those that do. */
const IDLE_VIEW = "#/store";

/** A pool of idle pages, each in its own context. */
const spare: Page[] = [];

/**
 * A page in its own context: cookies and storage are isolated from other tests.
 *
 * A page without options is reused after its test: a new one starts a renderer process and compiles
 * the page's scripts in it, which took half of the browser's processor time.
 */
export async function openPage({ onTestFinished, at, ...options }: PageOptions): Promise<Page> {
  const browser = await connect();
  if (Object.keys(options).length > 0) {
    const page = await newPage(browser, options);
    onTestFinished(() => page.context().close());
    return page;
  }
  const page = spare.pop() ?? (await newPage(browser));
  if (page.url() !== "about:blank") {
    // Not earlier: a view writes what it keeps when it is left.
    await page.evaluate(() => {
      sessionStorage.clear();
      localStorage.clear();
    });
    if (at === undefined || !page.url().startsWith(at)) await page.goto("about:blank");
  }
  const viewport = page.viewportSize();
  onTestFinished(async () => {
    await page.removeAllListeners(undefined, { behavior: "ignoreErrors" });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate((idle) => {
      (globalThis as unknown as { readonly location: { hash: string } }).location.hash = idle;
    }, IDLE_VIEW);
    await page.context().clearCookies();
    if (viewport !== null) await page.setViewportSize(viewport);
    spare.push(page);
  });
  return page;
}

async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  // The test timeout: a busy machine needs more than the default 30 s.
  context.setDefaultTimeout(300_000);
  return context.newPage();
}

/** Call once per file that opens pages: the files of a worker share one connection. */
export function closeBrowserAfterAll(): void {
  afterAll(async () => {
    const browser = await connected;
    connected = undefined;
    spare.length = 0;
    await browser?.close();
  });
}

function connect(): Promise<Browser> {
  const address = inject("browser");
  if (address === undefined) throw new Error("there is no browser: use describeInBrowser");
  connected ??= chromium.connect(address);
  return connected;
}
