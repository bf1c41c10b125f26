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
  close(): Promise<void>;
}

export async function createPageWorld(options: Partial<ServerOptions> = {}): Promise<PageWorld> {
  const engine = await open(":memory:");
  const serve = (port: number) => openServer(engine, { version: "0.0.0", ...options, port });
  let server: RunningServer = await serve(0);
  return {
    engine,
    url: () => server.url,
    restart: async () => {
      const { port } = server;
      await server.stop(0);
      server = await serve(port);
    },
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

export async function openWatched(
  world: PageWorld,
  hash: string,
  options: PageOptions,
): Promise<Watched> {
  const page = await openPage(options);
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
  const watching = await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI } = event;
      // Reaches the test as an error of the page, wherever in it that happened.
      setTimeout(() => {
        throw new Error(`policy: ${violatedDirective} ${blockedURI}`);
      });
    });
  });
  options.onTestFinished(() => watching.dispose());
  await page.goto(`${world.url()}/${hash}`);
  return { page, wrongs };
}
