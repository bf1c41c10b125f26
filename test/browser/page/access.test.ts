/** Access to the page: expiring tokens, the keyboard alone, screen readers, phones. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closeBrowserAfterAll, describeInBrowser } from "../../support/browser.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

closeBrowserAfterAll();

describeInBrowser("every view", () => {
  let world: PageWorld;
  let id = "";
  beforeAll(async () => {
    world = await createPageWorld();
    const session = await world.engine.createSession({
      agent: "coder",
      createdBy: "ana",
      title: `A long title ${"that goes on ".repeat(12)}`,
      origin: { projectPath: `/src/${"deep/".repeat(20)}shop`, source: "coder" },
    });
    id = session.id;
    const input = { command: `echo ${"wide".repeat(60)}` };
    await session.append([
      { role: "user", actor: "ana", content: `\`\`\`ts\n${"x".repeat(400)}\n\`\`\`` },
      {
        role: "assistant",
        actor: "coder",
        model: "m1",
        content: [{ type: "tool_use", id: "t1", name: "Bash", input }],
      },
    ]);
    await world.engine.putMemory({ agent: "coder", name: "rule", content: "wide".repeat(200) });
  });
  afterAll(() => world.close());

  test("fits a window of 390 px, its menus and panels included", async ({ onTestFinished }) => {
    const viewport = { width: 390, height: 844 };
    const { page, wrongs } = await openWatched(world, "", { onTestFinished, viewport });
    const goTo = (hash: string) =>
      page.evaluate((next) => {
        location.hash = next;
      }, hash);
    await page.waitForSelector(".session");
    await page.getByRole("button", { name: "Project" }).click();
    await page.getByRole("option").first().waitFor();
    await expectToFit(page, ".menu");
    await goTo("#/?q=echo");
    await page.waitForSelector(".hit");
    await expectToFit(page);
    // An age is one line, however narrow the window.
    expect((await page.locator(".hit time").first().boundingBox())?.height).toBeLessThan(30);
    await goTo(`#/session/${id}`);
    await page.waitForSelector(".message");
    await expectToFit(page);
    for (const panel of ["Export", "Share", "Retention"]) {
      await page.getByRole("button", { name: panel, exact: true }).click();
      await page.getByRole("group", { name: panel }).waitFor();
      await expectToFit(page, ".panel-pop");
    }
    for (const [hash, ready] of [
      ["#/usage", ".tiles"],
      ["#/memory", ".note-text"],
      ["#/store", ".tiles"],
    ] as const) {
      await goTo(hash);
      await page.locator(`main ${ready}`).first().waitFor();
      await expectToFit(page);
    }
    expect(wrongs).toEqual([]);
  });

  test("has no finding of axe-core, in both themes, at 390 and 1,440 px", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, "", { onTestFinished });
    onTestFinished(() => page.emulateMedia({ colorScheme: null, reducedMotion: null }));
    const findings: string[] = [];
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const [hash, ready] of [
        ["#/", ".session"],
        ["#/?q=echo", ".hit"],
        // What scrolls can be focused once the browser was idle.
        [`#/session/${id}?q=echo`, ".message pre[tabindex]"],
        ["#/usage", ".tiles"],
        ["#/memory", ".note-text"],
        ["#/store", ".tiles"],
      ] as const) {
        await page.evaluate((next) => {
          location.hash = next;
        }, hash);
        await page.locator(ready).first().waitFor();
        for (const colorScheme of ["light", "dark"] as const) {
          // Without transitions between colours, which axe would see half way.
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          // A theme changes colours alone.
          const rules = colorScheme === "light" ? undefined : ["color-contrast"];
          const found = await findingsOf(page, rules);
          findings.push(...found.map((one) => `${hash} ${colorScheme} ${width}: ${one}`));
        }
      }
    }
    expect(findings).toEqual([]);
    expect(wrongs).toEqual([]);
  });

  test("has its parts by role and name, and one heading on top", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, `#/session/${id}`, { onTestFinished });
    await page.getByRole("feed", { name: /^Messages of A long title/ }).waitFor();
    const articles = page.getByRole("article");
    await articles.first().waitFor();
    expect(await articles.first().getAttribute("aria-posinset")).toBe("1");
    expect(await articles.first().getAttribute("aria-setsize")).toBe("2");
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    const call = page.getByRole("button", { name: /Bash/ });
    expect(await call.getAttribute("aria-expanded")).toBe("false");
    await page.goto(`${world.url()}/#/?q=echo`);
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    await page.getByRole("search").getByRole("searchbox").waitFor();
    await page.getByRole("region", { name: "Results" }).getByRole("listitem").first().waitFor();
    const chip = page
      .getByRole("group", { name: "Filters" })
      .getByRole("button", { name: "Model" });
    await chip.click();
    await page.getByRole("listbox", { name: "Model" }).getByRole("option", { name: "m1" }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/?q=echo&model=m1");
    await page.getByRole("region", { name: "Results" }).getByRole("listitem").first().waitFor();
  });

  test("shows where the focus is, on every stop of the Tab key", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, `#/session/${id}`, { onTestFinished, isFresh: true });
    await page.getByRole("article").first().waitFor();
    const stops = new Set<string>();
    for (let stop = 0; stop < 30; stop++) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === null || at === document.body) return { name: "", outline: "none" };
        const name = at.getAttribute("aria-label") ?? at.textContent?.trim() ?? "";
        return { name: name.slice(0, 40), outline: getComputedStyle(at).outlineStyle };
      });
      if (seen.name === "") continue;
      stops.add(seen.name);
      expect(seen.outline, seen.name).not.toBe("none");
    }
    for (const name of ["Search", "Export", "Share", "Retention", "Find in session"]) {
      expect([...stops]).toContain(name);
    }
  });
});

describeInBrowser("a token that is revoked while somebody reads", () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await createPageWorld({ requireToken: true });
  });
  afterAll(() => world.close());

  test("ends the live view: the form asks for another token, and the messages are removed", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "a", createdBy: "b", title: "Kept" });
    await session.append({ role: "user", actor: "b", content: "Inside" });
    const { token, record } = await world.engine.createToken({ scope: "read", actor: "ana" });
    const { page } = await openWatched(world, `#/session/${session.id}`, { onTestFinished });
    await page.locator("#token").waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await page.fill("#token", token);
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".message").getByText("Inside").waitFor();
    await world.engine.revokeToken(record.id);
    await session.append({ role: "user", actor: "b", content: "After it" });
    await page.locator("#token").waitFor();
    expect(
      await page
        .locator(".message")
        .getByText(/Inside|After it/)
        .count(),
    ).toBe(0);
  });
});

const axeCode = () =>
  readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The violated rules with their elements; `rules`: of these alone. */
async function findingsOf(page: Page, rules?: string[]): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeCode());
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      readonly axe: { run(options: RunOptions): Promise<AxeResults> };
    };
    const options = runOnly === undefined ? {} : { runOnly };
    const { violations } = await axe.run({ resultTypes: ["violations"], ...options });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join()}`);
  }, rules);
}

async function expectToFit(page: Page, part?: string): Promise<void> {
  const box = await page.evaluate((selector) => {
    const { left, right } = (selector === undefined
      ? document.body
      : document.querySelector(selector)
    )?.getBoundingClientRect() ?? { left: -1, right: -1 };
    return { left, right, page: document.documentElement.scrollWidth, view: innerWidth };
  }, part);
  expect(box.page).toBeLessThanOrEqual(box.view);
  expect(box.left).toBeGreaterThanOrEqual(0);
  expect(box.right).toBeLessThanOrEqual(box.view);
}
