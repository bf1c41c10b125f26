/** A server with the page, and browsers that report everything that a safe page must not do. */

import type { Page } from "playwright-core";
import { type Engine, open } from "../../../src/index.ts";
import { openServer, type RunningServer, type ServerOptions } from "../../../src/server/serve.ts";
import { openPage, type PageOptions } from "../../support/browser.ts";

export interface PageWorld {
  readonly engine: Engine;
  /** Changes when the server starts again, unless the port is kept. */
  url(): string;
  /** Stops the server, and serves the same store at the same port. */
  restart(): Promise<void>;
  /** Stops the server; what it gives starts it again, at the same port. */
  stop(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function createPageWorld(options: Partial<ServerOptions> = {}): Promise<PageWorld> {
  const engine = await open(":memory:");
  const serve = (port: number) => openServer(engine, { version: "0.0.0", ...options, port });
  let server: RunningServer = await serve(0);
  const stop = async () => {
    const { port } = server;
    await server.stop(0);
    return async () => {
      server = await serve(port);
    };
  };
  return {
    engine,
    url: () => server.url,
    stop,
    restart: async () => (await stop())(),
    close: async () => {
      await server.stop(0);
      await engine.close();
    },
  };
}

/** Holds the request for the cursor of the feed until `release` is called. */
export async function holdFeedCursor(page: Page): Promise<{ release(): void }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/v1/changes?after=end*", async (route) => {
    await released;
    await route.continue();
  });
  return { release };
}

export interface Watched {
  readonly page: Page;
  /** Violations of the policy, errors of scripts, and requests to elsewhere. */
  readonly wrongs: string[];
}

/**
 * Shows an address of the page.
 *
 * By default in a page that another test of this world has left, because loading its scripts takes
 * most of the time of a short test. `isFresh`: in a new document, for tests of what it does at first.
 */
export async function openWatched(
  world: PageWorld,
  hash: string,
  { isFresh = false, ...options }: PageOptions & { readonly isFresh?: boolean },
): Promise<Watched> {
  const page = await openPage({ ...options, ...(isFresh ? {} : { at: world.url() }) });
  const wrongs: string[] = [];
  page.on("pageerror", (error) => wrongs.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text())) {
      wrongs.push(`policy: ${message.text()}`);
    }
  });
  page.on("request", (request) => {
    const url = request.url();
    const isOwn = new URL(url).origin === new URL(world.url()).origin;
    if (!isOwn && !/^(data|blob):/.test(url)) wrongs.push(`asked: ${url}`);
  });
  if (page.url().startsWith(world.url())) {
    await page.evaluate((next) => {
      location.hash = next;
    }, hash || "#/");
    return { page, wrongs };
  }
  if (!watching.has(page)) {
    watching.add(page);
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        const { violatedDirective, blockedURI } = event;
        // Reaches the test as an error of the page, wherever in it that happened.
        setTimeout(() => {
          throw new Error(`policy: ${violatedDirective} ${blockedURI}`);
        });
      });
    });
  }
  await page.goto(`${world.url()}/${hash}`);
  return { page, wrongs };
}

/** Pages that report violations of the policy. */
const watching = new WeakSet<Page>();
