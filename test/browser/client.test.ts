/** `backscroll/client` and `backscroll/assistant-ui`, bundled for a page as an app would, in a real browser. */

import { join } from "node:path";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { connect } from "../../src/client/index.ts";
import { type Engine, open } from "../../src/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../support/browser.ts";

const ROOT = join(import.meta.dirname, "../..");
const entryOf = (name: string) =>
  process.env["BACKSCROLL_BUILT"] === undefined ? `src/${name}.ts` : `dist/${name}.js`;

/** Loads the client as a page does: vitest rewrites `import()` in what a test hands to the browser. */
const PAGE = `<script type="module">
  import { connect } from "/client.js";
  globalThis.connectTo = connect;
</script>`;

async function bundle(name: string): Promise<string> {
  const build = await rolldown({
    cwd: ROOT,
    input: entryOf(name),
    platform: "browser",
    // By default a module that a browser cannot load stays as an import, with a warning.
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  expect(output).toHaveLength(1);
  return output[0].code;
}

const NAMES = ["client/index", "adapters/assistant-ui/index"];

test.each(NAMES)("%s is bundled for browsers without a module of Node", async (name) => {
  const code = await bundle(name);
  expect(code).not.toMatch(/\bnode:|\bBuffer\b|\brequire\(|\bprocess\./);
});

closeBrowserAfterAll();

describeInBrowser("in a page", () => {
  let engine: Engine;
  let server: RunningServer;
  let code: string;
  beforeAll(async () => {
    engine = await open(":memory:");
    server = await openServer(engine, { version: "0.0.0", port: 0 });
    code = await bundle("client/index");
  });
  afterAll(async () => {
    await server.stop();
    await engine.close();
  });

  /** A page of the server's own origin that can load the client. */
  async function openClientPage(page: Page): Promise<void> {
    const blank = `${server.url}/blank`;
    await page.route(blank, (route) => route.fulfill({ contentType: "text/html", body: PAGE }));
    await page.route(`${server.url}/client.js`, (route) =>
      route.fulfill({ contentType: "text/javascript", body: code }),
    );
    await page.goto(blank);
  }

  test("the client appends, reads, searches and follows", async ({ onTestFinished }) => {
    const page = await openPage({ onTestFinished });
    await openClientPage(page);
    const seen = await page.evaluate(async (url) => {
      const { connectTo } = globalThis as unknown as { readonly connectTo: typeof connect };
      const memory = await connectTo(url);
      const changes = memory.subscribe();
      const next = changes.next();
      const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
      await session.append({ role: "user", actor: "ana", content: "Why does the cron job run?" });
      const reply = await session.openMessage({ role: "assistant", actor: "coder" });
      await reply.write("Because the lock ");
      await reply.write("is gone: 錠 🔒");
      await reply.commit();
      const kinds = [(await next).value?.kind];
      for await (const { kind } of changes) if (kinds.push(kind) === 4) break;
      const { hits } = await memory.searchSessions("cron lock");
      const history = await session.history();
      const failed = await memory.getSession("nobody").catch((error: unknown) => error);
      await memory.close();
      return {
        kinds,
        found: hits.map(({ sessionId }) => sessionId === session.id),
        texts: history.map(({ blocks }) => blocks),
        code: (failed as { readonly code: string }).code,
      };
    }, server.url);
    expect(seen).toEqual({
      kinds: ["session_created", "entry_appended", "message_opened", "message_chunk"],
      found: [true],
      texts: [
        [{ type: "text", text: "Why does the cron job run?" }],
        [{ type: "text", text: "Because the lock is gone: 錠 🔒" }],
      ],
      code: "session_not_found",
    });
  });
});
