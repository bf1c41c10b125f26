/** Finding: results while typing, filters, links and the address. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../../support/browser.ts";
import { createPageWorld, holdFeedCursor, openWatched, type PageWorld } from "./page-world.ts";

closeBrowserAfterAll();

describeInBrowser("the first view", () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await createPageWorld();
    for (const [agent, title, text, answer] of [
      [
        "codex",
        "Cron runs twice",
        "Why does the cron job run twice on Mondays?",
        "**Two** nodes run `cron -f`.",
      ],
      ["claude-code", "Checkout tax", "The tax of the checkout is rounded twice."],
      ["claude-code", "Slow index", "Indexing takes minutes."],
    ] as const) {
      const session = await world.engine.createSession({
        agent,
        title,
        createdBy: "ana",
        origin: { projectPath: `/src/${agent}-shop`, source: agent },
      });
      await session.append({ role: "user", actor: "ana", content: text });
      if (answer !== undefined) {
        await session.append({ role: "assistant", actor: agent, content: answer });
      }
    }
  });
  afterAll(() => world.close());

  test("the box has the focus, with the newest sessions below it", async ({ onTestFinished }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished, isFresh: true });
    await page.waitForSelector("#query:focus");
    await expect
      .poll(() => page.locator(".session b").allTextContents())
      .toEqual(["Slow index", "Checkout tax", "Cron runs twice"]);
    expect(wrongs).toEqual([]);
  });

  test("the list is its first request", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, "", { onTestFinished, isFresh: true });
    await page.waitForSelector(".session");
    const asked = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
    );
    expect(asked.filter((path) => path.startsWith("/v1/"))[0]).toBe("/v1/sessions");
    expect(asked).not.toContain("/v1/access");
    // The early script, the page's script and one style before it.
    expect(asked.indexOf("/v1/sessions")).toBe(3);
  });

  test("each keystroke searches, the last word as a prefix; matches are marked, with the answer below", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await page.locator("#query").pressSequentially("twice mond");
    await page.waitForSelector('[data-answers="twice mond"]');
    expect(await page.locator(".hit b").first().textContent()).toBe("Cron runs twice");
    expect(await page.locator(".hit").first().locator("mark").allTextContents()).toEqual([
      "twice",
      "Mondays",
    ]);
    const hit = page.locator(".hit").first();
    await expect
      .poll(() => hit.locator(":is(.role, strong, code)").allTextContents())
      .toEqual(["ana asked", "it said", "Two", "cron -f"]);
    await expect.poll(() => new URL(page.url()).hash).toBe("#/?q=twice+mond");
    expect(wrongs).toEqual([]);
  });

  test("hits below the view are rendered once the typing pauses", async ({ onTestFinished }) => {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const session = await world.engine.createSession({ agent: "zoo", createdBy: "ana" });
        await session.append({ role: "user", actor: "ana", content: `Walrus ${at}` });
        return session;
      }),
    );
    onTestFinished(async () => {
      for (const { id } of sessions) await world.engine.deleteSession(id);
    });
    const { page } = await openWatched(world, "", { onTestFinished });
    await page.waitForSelector(".session");
    const first = page.evaluate(
      () =>
        new Promise<{ readonly shown: number; readonly bottom: number; readonly view: number }>(
          (resolve) => {
            const observer = new MutationObserver(() => {
              if (document.querySelector('[data-answers="walrus"]') === null) return;
              observer.disconnect();
              const hits = [...document.querySelectorAll(".hit")];
              const bottom = hits.at(-1)?.getBoundingClientRect().bottom ?? 0;
              resolve({ shown: hits.length, bottom, view: innerHeight });
            });
            observer.observe(document.body, { subtree: true, childList: true, attributes: true });
          },
        ),
    );
    await page.fill("#query", "walrus");
    const { shown, bottom, view } = await first;
    expect(bottom).toBeGreaterThanOrEqual(view);
    expect(shown).toBeLessThan(20);
    await expect.poll(() => page.locator(".hit").count()).toBe(20);
  });

  test("hits go on past the first 20, with their number, and by time", async ({
    onTestFinished,
  }) => {
    const sessions = await Promise.all(
      Array.from({ length: 45 }, async (_, at) => {
        const startedAt = Date.now() - at * 86_400_000;
        const session = await world.engine.createSession({
          agent: "zoo",
          createdBy: "ana",
          title: `Visit ${at}`,
          startedAt,
        });
        const createdAt = startedAt;
        await session.append({ role: "user", actor: "ana", content: `Penguin ${at}`, createdAt });
        return session;
      }),
    );
    onTestFinished(async () => {
      for (const { id } of sessions) await world.engine.deleteSession(id);
    });
    const { page, wrongs } = await openWatched(world, "#/?q=penguin", { onTestFinished });
    await page.getByText("About 45 sessions").waitFor();
    for (const count of [40, 45]) {
      await page.getByRole("button", { name: "Show more" }).click();
      await expect.poll(() => page.locator(".hit").count()).toBe(count);
    }
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByRole("button", { name: "Newest first" }).click();
    await expect
      .poll(async () => (await page.locator(".hit b").allTextContents()).slice(0, 3))
      .toEqual(["Visit 0", "Visit 1", "Visit 2"]);
    expect(new URL(page.url()).hash).toBe("#/?sort=time&q=penguin");
    expect(wrongs).toEqual([]);
  });

  test("a list that cannot be read is reported above the one before it, which names no costs", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await page.waitForSelector(".session");
    await page.route(/\/v1\/sessions\?.*sort=cost/, (route) => route.fulfill({ status: 500 }));
    await page.getByRole("button", { name: "Dearest" }).click();
    const alert = page.getByRole("region", { name: "Sessions in order" }).getByRole("alert");
    expect(await alert.textContent()).toContain("HTTP 500");
    expect(await page.locator(".session b").count()).toBe(3);
    expect(await page.locator(".session .about").allTextContents()).not.toContainEqual(
      expect.stringContaining("$"),
    );
    await page.getByRole("button", { name: "Newest" }).click();
    await expect.poll(() => alert.count()).toBe(0);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Dearest" }).click();
    await page.locator(".session").getByText("$0.00").first().waitFor();
    expect(wrongs).toEqual([]);
  });

  test("a late answer to an earlier query is never shown", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, "", { onTestFinished });
    await page.waitForSelector(".session");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/v1/search", async (route) => {
      if (route.request().postDataJSON().query === "tax") await held;
      // The page has aborted it by then.
      await route.continue().catch(() => undefined);
    });
    await page.fill("#query", "tax");
    await page.fill("#query", "cron");
    await page.waitForSelector('[data-answers="cron"]');
    release();
    await page.fill("#query", "cron ");
    await page.waitForSelector('[data-answers="cron "]');
    expect(await page.locator(".hit b").allTextContents()).toEqual(["Cron runs twice"]);
  });

  test("a chip shows its values with their counts and narrows the list; Back undoes it", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await page.getByRole("button", { name: "Agent", exact: true }).click();
    await expect
      .poll(() => page.getByRole("option").allTextContents())
      .toEqual(["claude-code2", "codex1"]);
    await page.getByRole("option", { name: "codex" }).click();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await expect.poll(() => new URL(page.url()).hash).toBe("#/?agent=codex");
    await page.goBack();
    await expect.poll(() => page.locator(".session").count()).toBe(3);
    expect(wrongs).toEqual([]);
  });

  test("Forward restores the query before Back, and a query abandoned while typing changes neither", async ({
    onTestFinished,
  }) => {
    const { page } = await openWatched(world, "", { onTestFinished });
    const hash = () => page.evaluate(() => location.hash);
    await page.waitForSelector(".session");
    await page.getByRole("button", { name: "Agent", exact: true }).click();
    await page.getByRole("option", { name: "codex" }).click();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await page.locator(".session").click();
    await page.locator(".message").getByText("Why does the cron job run twice").waitFor();
    const opened = await hash();
    await page.goBack();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await page.goBack();
    await expect.poll(() => page.locator(".session").count()).toBe(3);
    await page.goForward();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    expect(await hash()).toBe("#/?agent=codex");
    await page.goForward();
    await page.locator(".message").getByText("Why does the cron job run twice").waitFor();
    expect(await hash()).toBe(opened);
    await page.goBack();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await page.fill("#query", "cr");
    // The second letter is written to the history after a pause, unless Back comes before it.
    const hashes = await page.evaluate(async () => {
      const box = document.querySelector<HTMLInputElement>("#query");
      if (box === null) return [];
      box.value = "cro";
      box.dispatchEvent(new Event("input", { bubbles: true }));
      const left = new Promise((resolve) => addEventListener("popstate", resolve, { once: true }));
      const written: string[] = [];
      const replace = history.replaceState.bind(history);
      history.replaceState = (state, unused, url) => {
        written.push(String(url));
        replace(state, unused, url);
      };
      history.back();
      await left;
      await new Promise((resolve) => setTimeout(resolve, 400));
      return [location.hash, ...written];
    });
    expect(hashes).toEqual(["#/?agent=codex"]);
  });

  test("a chip's menu works with keys, and gives the focus back to the chip", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await page.waitForSelector(".session");
    const chip = page.getByRole("button", { name: "Agent", exact: true });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await chip.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect.poll(focused).toBe("codex1");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("option").count()).toBe(0);
    await expect.poll(focused).toBe("Agent");
    await page.keyboard.press("Enter");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await expect.poll(focused).toBe("Agentcodex");
    expect(wrongs).toEqual([]);
  });

  test("a range of days counts both of them whole", async ({ onTestFinished }) => {
    // The browser and the server have the time zone of the tests.
    const at = (day: number, hour: number, minute: number) =>
      new Date(2020, 1, day, hour, minute).getTime();
    for (const [title, createdAt] of [
      ["Too early", at(10, 23, 59)],
      ["First minute", at(11, 0, 0)],
      ["Last minute", at(12, 23, 59)],
      ["Too late", at(13, 0, 0)],
    ] as const) {
      const session = await world.engine.createSession({
        agent: "almanac",
        createdBy: "bo",
        title,
        startedAt: createdAt,
      });
      await session.append({ role: "user", actor: "bo", content: title, createdAt });
    }
    const { page, wrongs } = await openWatched(world, "#/?agent=almanac", { onTestFinished });
    await expect.poll(() => page.locator(".session").count()).toBe(4);
    await page.getByRole("button", { name: "Time" }).click();
    await page.getByLabel("From").fill("2020-02-11");
    await page.getByLabel("to", { exact: true }).fill("2020-02-12");
    await expect.poll(() => page.locator(".session").count()).toBe(2);
    await page.getByText("Last minute").waitFor();
    await page.getByText("First minute").waitFor();
    expect(wrongs).toEqual([]);
  });

  test("a session that is stored while the page is open appears", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, "#/?agent=newcomer", { onTestFinished });
    await page.getByText("No session matches these filters").waitFor();
    await world.engine.createSession({ agent: "newcomer", title: "Hello", createdBy: "bo" });
    await page.getByText("Hello").waitFor();
  });

  test("a session that is stored before the feed's cursor is read appears, too", async ({
    onTestFinished,
  }) => {
    const page = await openPage({ onTestFinished });
    const cursor = await holdFeedCursor(page);
    await page.goto(`${world.url()}/#/?agent=latecomer`);
    await page.getByText("No session matches these filters").waitFor();
    await world.engine.createSession({ agent: "latecomer", title: "Between", createdBy: "bo" });
    cursor.release();
    await page.getByText("Between").waitFor();
  });

  test("an empty store shows the command to run", async ({ onTestFinished }) => {
    const empty = await createPageWorld();
    onTestFinished(() => empty.close());
    const { page, wrongs } = await openWatched(empty, "", { onTestFinished });
    await page.getByText("backscroll setup && backscroll ingest").waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByText("No session was written to in this time.").waitFor();
    expect(wrongs).toEqual([]);
  });

  test("everything is reachable by keys alone, and ? lists them", async ({ onTestFinished }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await page.waitForSelector("#query:focus");
    await page.keyboard.type("cron");
    await page.waitForSelector('[data-answers="cron"]');
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector(".hit:focus");
    await page.keyboard.press("o");
    await page.waitForSelector(".message");
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard" });
    await list.waitFor();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("query");
    expect(wrongs).toEqual([]);
  });
});
