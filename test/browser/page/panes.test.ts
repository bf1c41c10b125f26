/** The list and the session beside each other; tabs; a server that goes away and comes back. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { closeBrowserAfterAll, describeInBrowser } from "../../support/browser.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

closeBrowserAfterAll();

describeInBrowser("a wide window", () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await createPageWorld();
    const now = Date.now();
    for (const [title, text, answer, daysAgo] of [
      ["Old tax", "Round the tax", "Rounded.", 9],
      ["Cron twice", "Why twice on Mondays?", "Two nodes run it.", 1],
      ["Slow index", "Why slow on Mondays?", "", 0],
    ] as const) {
      const createdAt = now - daysAgo * 86_400_000;
      const session = await world.engine.createSession({
        agent: "coder",
        createdBy: "ana",
        title,
        startedAt: createdAt,
      });
      await session.append([
        { role: "user", actor: "ana", content: text, createdAt },
        ...(answer === ""
          ? []
          : [{ role: "assistant", actor: "coder", content: answer, createdAt } as const]),
      ]);
    }
  });
  afterAll(() => world.close());

  test("lists what is unfinished, then by day, and says what came of each and of the day", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    await expect
      .poll(() => page.locator(".find :is(h2, .session b, .outcome)").allTextContents())
      .toEqual([
        "Unfinished",
        "Slow index",
        "● unfinished",
        "Yesterday",
        "Cron twice",
        "✓ answered",
        "Earlier",
        "Old tax",
        "✓ answered",
      ]);
    const start = page.locator(".start");
    await start.getByText("1 unfinished").waitFor();
    await start.getByText("No memory was passed to an agent today.").waitFor();
    await start.getByText("No link to a session is open.").waitFor();
    const { sessions } = await world.engine.listSessions({ title: "Old tax" });
    await world.engine.shares.create(sessions[0]?.id ?? "");
    await page.reload();
    await start.getByText(/^A link to Old tax, open until/).waitFor();
    expect(wrongs).toEqual([]);
  });

  test("has sub-agents below their parent, runs of one title as one row, both open on demand, and sorts by size", async ({
    onTestFinished,
  }) => {
    const add = async (title: string, key: string, metadata = {}) => {
      const session = await world.engine.createSession({
        agent: "nester",
        createdBy: "ana",
        title,
        metadata,
        origin: { key, source: "nester" },
      });
      await session.append({ role: "user", actor: "ana", content: title });
      // The largest.
      if (key === "p/1") await session.append({ role: "user", actor: "ana", content: "Again" });
      return session;
    };
    const made = [
      await add("Reply with the marker", "r1"),
      await add("Reply with the marker", "r2"),
      await add("Reply with the marker", "r3"),
      await add("Ask for a review", "p"),
      await add("Review it", "p/1", { parent: { key: "p" } }),
    ];
    onTestFinished(async () => {
      for (const { id } of made) await world.engine.deleteSession(id);
    });
    const { page, wrongs } = await openWatched(world, "#/?agent=nester", { onTestFinished });
    const shown = () => page.locator(".find :is(.session b, .family button)").allTextContents();
    const again = ["3 × Reply with the marker", "▸ 2 × the same"];
    const folded = ["Ask for a review", "▸ 1 sub-agent", ...again];
    await expect.poll(shown).toEqual(folded);
    await page.getByRole("button", { name: "2 × the same" }).click();
    await expect.poll(() => page.locator(".family .session").count()).toBe(2);
    await page.getByRole("button", { name: "Each run" }).click();
    await expect.poll(() => page.locator(".session").count()).toBe(5);
    await page.getByRole("button", { name: "Largest" }).click();
    await expect.poll(async () => (await shown())[0]).toBe("Review it");
    expect(new URL(page.url()).hash).toBe("#/?sort=size&agent=nester&flat=1");
    await page.getByRole("button", { name: "Sub-agents" }).click();
    await expect.poll(shown).toEqual(["Review it"]);
    await page.goto(`${world.url()}/#/?agent=nester`);
    await expect.poll(shown).toEqual(folded);
    await page.getByRole("button", { name: "1 sub-agent" }).click();
    await page.getByRole("link", { name: "Review it" }).click();
    await page.getByRole("link", { name: "Parent session" }).click();
    await page.getByRole("heading", { name: "Ask for a review" }).waitFor();
    await page.locator(".session-head").getByRole("button", { name: "1 sub-agent" }).click();
    await page.locator(".session-head").getByRole("link", { name: "Review it" }).waitFor();
    expect(wrongs).toEqual([]);
  });

  test("has the hits beside the session: j, k and Enter read, u and Back lead back, an address each", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "#/?q=mondays", { onTestFinished });
    await page.locator(".hit").nth(1).waitFor();
    expect(await page.title()).toBe("mondays · Backscroll");
    await page.locator("#query").press("ArrowDown");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    const titles = await page.locator(".hit b").allTextContents();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("h1").textContent()).toBe(titles[0]);
    expect(await page.title()).toBe(`${titles[0]} · Backscroll`);
    await expect.poll(() => page.locator(".scroller:focus").count()).toBe(1);
    expect(await page.locator(".hit").count()).toBe(2);
    await page.keyboard.press("u");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("h1").textContent()).toBe(titles[1]);
    const address = page.url();
    await page.goBack();
    await expect.poll(() => page.locator("h1").textContent()).toBe(titles[0]);
    await page.goto("about:blank");
    await page.goto(address);
    await expect.poll(() => page.locator("h1").textContent()).toBe(titles[1]);
    await expect.poll(() => page.locator(".hit").count()).toBe(2);
    const icon = await page.locator("link[rel=icon]").getAttribute("href");
    expect(decodeURIComponent(icon ?? "")).toContain(">C</text>");
    expect(wrongs).toEqual([]);
  });

  test("Escape empties the box, the hits and the address; the last word is a prefix while a key was last", async ({
    onTestFinished,
  }) => {
    const { page } = await openWatched(world, "", { onTestFinished });
    await page.locator(".session").first().waitFor();
    const asked: unknown[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/search")) asked.push(request.postDataJSON().as_you_type);
    });
    await page.locator("#query").pressSequentially("monda");
    await page.locator('[data-answers="monda"]').waitFor();
    expect(new Set(asked)).toEqual(new Set([true]));
    await page.keyboard.press("Escape");
    await page.locator(".session").first().waitFor();
    expect(await page.locator("#query").inputValue()).toBe("");
    await expect.poll(() => new URL(page.url()).hash).toBe("#/");
    asked.length = 0;
    await page.evaluate(() => {
      const box = document.querySelector<HTMLInputElement>("#query");
      if (box !== null) box.value = "monda";
      box?.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste" }));
    });
    await expect.poll(() => asked).toEqual([false]);
  });

  test("a lost server is told within a second, and everything goes on when it is back", async ({
    onTestFinished,
  }) => {
    const own = await createPageWorld();
    onTestFinished(() => own.close());
    const session = await own.engine.createSession({
      agent: "coder",
      createdBy: "ana",
      title: "A",
    });
    await session.append({ role: "user", actor: "ana", content: "before" });
    const { page } = await openWatched(own, `#/session/${session.id}`, { onTestFinished });
    await page.locator(".tag.live").waitFor();
    await page.locator(".session").waitFor();
    const start = await own.stop();
    const stopped = Date.now();
    await page.getByRole("alert").getByText("The server does not answer.").waitFor();
    expect(Date.now() - stopped).toBeLessThan(1_000);
    expect(await page.locator(".tag.live").count()).toBe(0);
    await session.append({ role: "user", actor: "ana", content: "meanwhile" });
    await own.engine.createSession({ agent: "coder", createdBy: "ana", title: "B" });
    await start();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.locator(".message").getByText("meanwhile").waitFor();
    await page.locator(".session b").getByText("B", { exact: true }).waitFor();
    await page.locator(".tag.live").waitFor();
    expect(await page.locator(".failure").count()).toBe(0);
  });
});
