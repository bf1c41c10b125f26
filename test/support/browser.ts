/** Pages in the browser of the test run (`browser-server.ts`), each with storage of its own. */

import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, describe, inject } from "vitest";

/** Like `describe`; skipped where there is no browser. */
export const describeInBrowser: typeof describe.skip = describe.skipIf(
  inject("browser") === undefined,
);

export interface PageOptions extends BrowserContextOptions {
  /** Of the test, which closes the page when it ends. */
  readonly onTestFinished: (close: () => Promise<void>) => void;
}

let connected: Promise<Browser> | undefined;

/** A new page in a context of its own: cookies, storage and cache are shared with no other test. */
export async function openPage({ onTestFinished, ...options }: PageOptions): Promise<Page> {
  const browser = await connect();
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}

/** Call it once in a file that opens pages: files of a worker share the connection one by one. */
export function closeBrowserAfterAll(): void {
  afterAll(async () => {
    const browser = await connected;
    connected = undefined;
    await browser?.close();
  });
}

function connect(): Promise<Browser> {
  const address = inject("browser");
  if (address === undefined) throw new Error("there is no browser: use describeInBrowser");
  connected ??= chromium.connect(address);
  return connected;
}
