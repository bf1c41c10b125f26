/** The example chat app, as `npm run chat` starts it, with a scripted model and a real browser. */

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../support/browser.ts";
import { ROOT } from "../support/cli.ts";
import { removeFolder } from "../support/folder.ts";
import { startModelServer } from "../support/model-server.ts";
import { streamsOf } from "../support/streamed-answer.ts";

closeBrowserAfterAll();

describeInBrowser("the example chat app", () => {
  test("asks, edits, asks again, stops, resumes, and has every version after a restart", async ({
    onTestFinished,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-chat-"));
    const db = join(folder, "chat.db");
    const model = await startModelServer();
    const usage = { input: 9, output: 2 };
    let answers = 0;
    model.answer(streamsOf(() => ({ text: [`Answer ${++answers}.`], usage })));
    let app = await startApp(model.url, db);
    onTestFinished(async () => {
      await app.stop();
      await model.close();
      await removeFolder(folder);
    });

    const page = await openPage({ onTestFinished });
    await page.goto(app.url);
    const said = () => page.locator("article").allInnerTexts();
    const shows = (...texts: string[]) =>
      expect.poll(async () => (await said()).map((text) => text.split("\n")[0])).toEqual(texts);
    await page.getByLabel("Message").fill("Why does cron run twice?");
    await page.getByLabel("Message").press("Enter");
    await shows("Why does cron run twice?", "Answer 1.");
    await page.getByRole("button", { name: "Again" }).click();
    await shows("Why does cron run twice?", "Answer 2.");
    await expect.poll(async () => (await said()).at(-1)).toContain("2 of 2");
    await page.getByLabel("Previous version").click();
    await shows("Why does cron run twice?", "Answer 1.");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Message").fill("Why once?");
    await page.getByRole("button", { name: "Change" }).click();
    await shows("Why once?", "Answer 3.");

    // A second page of the same chat sees a running answer, and what it has so far stays when it is stopped.
    model.answer(streamsOf(() => ({ text: ["Half an ans"], hangs: true })));
    await page.getByLabel("Message").fill("Go on.");
    await page.getByLabel("Message").press("Enter");
    await shows("Why once?", "Answer 3.", "Go on.", "Half an ans");
    const other = await openPage({ onTestFinished });
    await other.goto(page.url());
    await other.getByText("Half an ans").waitFor();
    await other.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send" }).waitFor();

    await app.stop();
    app = await startApp(model.url, db);
    await page.goto(`${app.url}${new URL(page.url()).hash}`);
    await page.reload();
    await shows("Why once?", "Answer 3.", "Go on.", "Half an ans");
    expect(await page.locator("nav button").allInnerTexts()).toEqual(["New chat", "Why once?"]);
    await page.getByLabel("Previous version").first().click();
    // The newest answer to it.
    await shows("Why does cron run twice?", "Answer 2.");

    await app.stop();
    await using memory = await open(db);
    const { total } = await memory.stats();
    expect(total.tokens).toMatchObject({ inputTokens: 27, outputTokens: 6 });
    const [hit] = (await memory.searchSessions("cron twice", { branches: "all" })).hits;
    expect(hit?.meta.agent).toBe("helper");
  });
});

interface App {
  readonly url: string;
  stop(): Promise<void>;
}

async function startApp(modelUrl: string, db: string): Promise<App> {
  const child = spawn(process.execPath, ["examples/chat/server.ts"], {
    cwd: ROOT,
    env: { ...process.env, BACKSCROLL_MODEL_URL: modelUrl, CHAT_DB: db, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Chat: (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async stop() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error("the app ended before it served");
}
