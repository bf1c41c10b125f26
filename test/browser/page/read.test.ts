/** Reading: long sessions, links, folds, live growth, a server that starts again. */

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionHandle } from "../../../src/index.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../../support/browser.ts";
import { repeats } from "../../support/repeats.ts";
import { createPageWorld, holdFeedCursor, openWatched, type PageWorld } from "./page-world.ts";

/**
 * More than the scroll bar has pixels for, at 90 px each; in full also more than a browser has, at
 * 335 px each.
 */
const MANY = repeats(24_000, 100_000);

closeBrowserAfterAll();

/** The rows in the view, from top to bottom. */
function inView(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const view = document.querySelector(".scroller")?.getBoundingClientRect();
    if (view === undefined) return [];
    return [...document.querySelectorAll(".message .content")]
      .filter((message) => {
        const { top, bottom } = message.getBoundingClientRect();
        return bottom > view.top && top < view.bottom;
      })
      .map((message) => message.textContent?.trim() ?? "");
  });
}

/** From the edge of the list: the head above it grows when more is known. */
function topOf(page: Page, text: string): Promise<number> {
  return page.getByText(text, { exact: true }).evaluate((element) => {
    const list = element.closest(".scroller")?.getBoundingClientRect();
    return Math.round(element.getBoundingClientRect().top - (list?.top ?? 0));
  });
}

/** Rows move while the head above them grows, away from under a pointer. */
async function hoverUntilShown(row: Locator, button: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await row.hover();
      return button.isVisible();
    })
    .toBe(true);
}

function scrollTop(page: Page): Promise<number> {
  return page.locator(".scroller").evaluate((element) => Math.round(element.scrollTop));
}

describeInBrowser("a session", () => {
  let world: PageWorld;
  let long: SessionHandle;
  let middle = "";
  beforeAll(async () => {
    world = await createPageWorld();
    long = await world.engine.createSession({ agent: "coder", createdBy: "ana", title: "Long" });
    for (let from = 0; from < MANY; from += 500) {
      const entries = await long.append(
        Array.from({ length: 500 }, (_, at) => ({
          role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
          actor: "ana",
          content: `Message ${from + at}`,
        })),
      );
      if (from === MANY / 2) middle = entries[7]?.id ?? "";
    }
  });
  afterAll(() => world.close());

  test("a link opens it at its message, among tens of thousands", async ({ onTestFinished }) => {
    const hash = `#/session/${long.id}?m=${middle}`;
    const { page, wrongs } = await openWatched(world, hash, { onTestFinished });
    await page.locator(".message.target").waitFor();
    await expect.poll(async () => (await inView(page)).join()).toContain(`Message ${MANY / 2 + 7}`);
    expect(await page.locator(".row").count()).toBeLessThan(80);
    expect(wrongs).toEqual([]);
  });

  test("a message is marked as replaced, here and in its hit, and the mark is taken back", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const said = (content: string) => ({ role: "user" as const, actor: "ana", content });
    await session.append([said("Walruses on Friday"), said("Walruses on Monday")]);
    onTestFinished(async () => {
      await session.delete();
    });
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    const message = page.locator(".message").first();
    // Under a pointer the row may move away: the head above it grows.
    await message.focus();
    await message.getByRole("button", { name: "Mark", exact: true }).click();
    await page.getByLabel("Why it does not hold").fill("It moved");
    await page.getByLabel("Replaced by the message").fill("1");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => message.locator(".tag").allTextContents())
      .toEqual(["replaced by #1: It moved"]);
    expect(await session.marks()).toMatchObject([{ index: 0, replacedBy: { index: 1 } }]);

    await page.goto(`${world.url()}/#/?q=walruses+friday`);
    const note = page.locator(".hit-notes").filter({ hasText: "replaced by #1: It moved" });
    await note.getByRole("link", { name: "#1" }).click();
    await page.locator(".message.target").filter({ hasText: "Monday" }).waitFor();

    await message.focus();
    await message.getByRole("button", { name: "Mark", exact: true }).click();
    await page.getByRole("button", { name: "Take the mark back" }).click();
    await expect.poll(() => message.locator(".tag").count()).toBe(0);
    expect(wrongs).toEqual([]);
  });

  test.for([
    { place: "at a message", search: () => `?m=${middle}`, shown: ".message.target" },
    { place: "at its start", search: () => "", shown: ".message" },
    {
      place: "on a path",
      search: () => `?m=${middle}&leaf=${middle}`,
      shown: ".message.target",
    },
  ])(
    "a link $place requests its messages before the page's script, and once",
    async ({ search, shown }, { onTestFinished }) => {
      // Without the list beside it, which follows the feed, too.
      const page = await openPage({ onTestFinished, viewport: { width: 1_000, height: 720 } });
      const asked: string[] = [];
      const early = new Promise<void>((resolve) => {
        page.on("request", (request) => {
          asked.push(request.url().slice(world.url().length));
          if (asked.some((url) => url.includes("/messages?"))) resolve();
        });
      });
      await page.route("**/assets/first-*.js", async (route) => {
        await early;
        await route.continue();
      });
      // After the cursor of the feed is known, the session may be read again.
      const stream = page.waitForRequest(/\/changes\?after=(?!end)/);
      await page.goto(`${world.url()}/#/session/${long.id}${search()}`);
      await page.locator(shown).first().waitFor();
      asked.splice(asked.indexOf((await stream).url().slice(world.url().length)));
      const first = asked.find((url) => url.includes("/messages?")) ?? "";
      for (const url of [first, `/v1/sessions/${long.id}`, "/v1/changes?after=end&limit=1"]) {
        expect(
          asked.filter((one) => one === url),
          url,
        ).toHaveLength(1);
      }
      for (const file of [/^\/assets\/read-[^/]+\.js$/, /^\/assets\/rich-[^/]+\.js$/]) {
        expect(
          asked.filter((url) => file.test(url)),
          file.source,
        ).toHaveLength(1);
      }
    },
  );

  test("Home and End reach the first and last message, and the wheel scrolls by its amount", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, `#/session/${long.id}`, { onTestFinished });
    await page.locator(".message").getByText("Message 0", { exact: true }).waitFor();
    await page.focus(".scroller");
    await page.keyboard.press("End");
    await page
      .locator(".message")
      .getByText(`Message ${MANY - 1}`, { exact: true })
      .waitFor();
    await page.keyboard.press("Home");
    await page.locator(".message").getByText("Message 3", { exact: true }).waitFor();
    await expect.poll(() => scrollTop(page)).toBe(0);
    const before = await topOf(page, "Message 3");
    await page.mouse.move(600, 500);
    await page.mouse.wheel(0, 100);
    await expect.poll(() => topOf(page, "Message 3")).toBe(before - 100);
    expect(wrongs).toEqual([]);
  });

  test("the scroll bar reaches any part of it", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, `#/session/${long.id}`, { onTestFinished });
    await page.locator(".message").getByText("Message 0", { exact: true }).waitFor();
    await page.evaluate(() => {
      const scroller = document.querySelector(".scroller");
      if (scroller !== null) scroller.scrollTop = scroller.scrollHeight / 2;
    });
    await expect
      .poll(async () => Number(/\d+/.exec((await inView(page))[0] ?? "")?.[0]))
      .toSatisfy((index: number) => Math.abs(index - MANY / 2) < 50);
  });

  test("a scroll is kept though rows are placed before its event", async ({ onTestFinished }) => {
    const { page } = await openWatched(world, `#/session/${long.id}`, { onTestFinished });
    await page.locator(".message").getByText("Message 0", { exact: true }).waitFor();
    await page.evaluate(() => {
      const scroller = document.querySelector(".scroller");
      if (scroller !== null) scroller.scrollTop = scroller.scrollHeight / 2;
      // Renders the view again before the event of the scroll.
      const map = [...document.querySelectorAll("button")].find(
        (each) => each.textContent === "Map",
      );
      map?.click();
    });
    await expect
      .poll(async () => Number(/\d+/.exec((await inView(page))[0] ?? "")?.[0]))
      .toSatisfy((index: number) => Math.abs(index - MANY / 2) < 50);
  });

  test("words are found in it, and a narrow window keeps the position", async ({
    onTestFinished,
  }) => {
    const { page } = await openWatched(world, `#/session/${long.id}`, { onTestFinished });
    await page.locator(".message").getByText("Message 0", { exact: true }).waitFor();
    await page.fill("#find-in", "12345");
    await page.locator(".message.target").getByText("Message 12345").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(async () => (await inView(page)).join()).toContain("Message 12345");
    const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isWider).toBe(false);
  });

  test("at the end it follows new messages; above it the view stays", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const say = (text: string) => session.append({ role: "user", actor: "ana", content: text });
    for (let at = 0; at < 60; at++) await say(`Line ${at}`);
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    await page.locator(".message").getByText("Line 0", { exact: true }).waitFor();
    await page.focus(".scroller");
    await page.keyboard.press("End");
    await page.locator(".message").getByText("Line 59", { exact: true }).waitFor();
    await say("Line 60");
    await expect.poll(async () => (await inView(page)).at(-1)).toBe("Line 60");
    const reply = await session.openMessage({ role: "assistant", actor: "coder" });
    await reply.write("Half of");
    await expect.poll(async () => (await inView(page)).at(-1)).toBe("Half of");
    await reply.write(" an answer");
    await reply.commit();
    await expect.poll(async () => (await inView(page)).at(-1)).toBe("Half of an answer");
    // The view may show the last words of the pending message before it is stored.
    await expect.poll(() => page.locator(".message[aria-busy=true]").count()).toBe(0);
    await page.keyboard.press("Home");
    await page.locator(".message").getByText("Line 2", { exact: true }).waitFor();
    await expect.poll(() => scrollTop(page)).toBe(0);
    const before = await topOf(page, "Line 2");
    await say("Line 62");
    await page.getByRole("button", { name: "1 new message" }).waitFor();
    expect(await topOf(page, "Line 2")).toBe(before);
    expect(wrongs).toEqual([]);
  });

  test("a message that is appended before the feed's cursor is read appears", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", actor: "ana", content: "before" });
    const page = await openPage({ onTestFinished });
    const cursor = await holdFeedCursor(page);
    await page.goto(`${world.url()}/#/session/${session.id}`);
    await page.locator(".message").getByText("before", { exact: true }).waitFor();
    await session.append({ role: "user", actor: "ana", content: "between" });
    cursor.release();
    await page.locator(".message").getByText("between", { exact: true }).waitFor();
  });

  test("a restarted server leaves no gap and repeats nothing", async ({ onTestFinished }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const say = (text: string) => session.append({ role: "user", actor: "ana", content: text });
    await say("before 1");
    const { page } = await openWatched(world, `#/session/${session.id}`, { onTestFinished });
    await page.locator(".message").getByText("before 1").waitFor();
    const restarted = world.restart();
    await say("meanwhile 2");
    await restarted;
    await say("after 3");
    await page.locator(".message").getByText("after 3").waitFor();
    await expect.poll(() => inView(page)).toEqual(["before 1", "meanwhile 2", "after 3"]);
  });

  test("a tool call is one line that opens to its input, its output and its diff, in place", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const edit = { file_path: "/a.ts", old_string: "let a = 1;\n", new_string: "const a = 1;\n" };
    await session.append([
      { role: "user", actor: "ana", content: "Fix it" },
      {
        role: "assistant",
        actor: "coder",
        content: [
          { type: "thinking", text: "A constant would do." },
          { type: "tool_use", id: "t1", name: "Edit", input: edit },
        ],
      },
      {
        role: "tool",
        actor: "Edit",
        content: [{ type: "tool_result", toolUseId: "t1", output: "<b>done</b>", isError: false }],
      },
    ]);
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    const line = page.getByRole("button", { name: /Edit.*\/a\.ts/ });
    await line.waitFor();
    // From the edge of the list: the head above it grows when the branches are known.
    const topInList = () =>
      line.evaluate((button) => {
        const list = button.closest(".scroller")?.getBoundingClientRect();
        return Math.round(button.getBoundingClientRect().top - (list?.top ?? 0));
      });
    const top = await topInList();
    await line.click();
    expect(await page.locator(".diff .removed").textContent()).toBe("1-let a = 1;");
    expect(await page.locator(".diff .added").textContent()).toBe("1+const a = 1;");
    for (const [change, sign] of [
      ["removed", "-"],
      ["added", "+"],
    ] as const) {
      const named = page.locator(`.diff .${change}`).getByRole("img", { name: change });
      expect(await named.textContent(), "read out, not told by its colour alone").toBe(sign);
    }
    expect(await page.locator("pre.output").textContent()).toBe("<b>done</b>");
    await expect.poll(topInList).toBe(top);
    expect(await page.locator(".message").getByText("A constant would do.").count()).toBe(1);
    expect(wrongs).toEqual([]);
  });

  test("a session that fits the view stays at its start when an image makes it longer", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="900"/>';
    const image = { type: "image", mediaType: "image/svg+xml", data: btoa(svg) } as const;
    await session.append([
      { role: "user", actor: "ana", content: [{ type: "text", text: "Look" }, image, image] },
      { role: "assistant", actor: "coder", content: "Seen" },
    ]);
    const { page } = await openWatched(world, `#/session/${session.id}`, { onTestFinished });
    const hasGrown = () =>
      page.locator(".scroller").evaluate((list) => list.scrollHeight > list.clientHeight + 100);
    await expect.poll(hasGrown).toBe(true);
    expect(await scrollTop(page)).toBe(0);
  });

  test("a row of tool calls has a link to copy, and no row grows under the pointer", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const [, call] = await session.append([
      { role: "user", actor: "ana", content: "Look" },
      {
        role: "assistant",
        actor: "coder",
        content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
      },
    ]);
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
      permissions,
    });
    const row = page.locator(".message.bare");
    await row.waitFor();
    const said = page.locator(".message.user");
    const heightOfSaid = (await said.boundingBox())?.height;
    await hoverUntilShown(said, said.getByRole("button", { name: "Link" }));
    expect((await said.boundingBox())?.height).toBe(heightOfSaid);
    const height = (await row.boundingBox())?.height;
    const button = row.getByRole("button", { name: "Link" });
    await hoverUntilShown(row, button);
    await button.click();
    await row.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `${world.url()}/#/session/${session.id}?m=${call?.id}`,
    );
    await expect.poll(async () => (await row.boundingBox())?.height).toBe(height);
  });

  test("a link to a message on another branch shows that branch, and its branches can be switched", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const asked = await session.append({ role: "user", actor: "ana", content: "Old words" });
    await session.append({ role: "assistant", actor: "coder", content: "Old answer" });
    await session.edit(asked.id, "New words");
    const hash = `#/session/${session.id}?m=${asked.id}`;
    const { page, wrongs } = await openWatched(world, hash, { onTestFinished });
    await page.locator(".message.target").getByText("Old words").waitFor();
    expect(await page.getByText("New words").count()).toBe(0);
    await page.getByRole("button", { name: "2 branches" }).click();
    await page.getByRole("link", { name: "New words" }).click();
    await page.locator(".message").getByText("New words").waitFor();
    expect(await page.locator(".message").getByText("Old words").count()).toBe(0);
    expect(wrongs).toEqual([]);
  });

  test("prose and Markdown are shown alike: paragraphs, line breaks, marks, and tags as text", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const texts = [
      "Prose of one line.\nThe second, isn't it?\n\nAnother paragraph (the last).\n",
      "Prose of *one* line.\nThe second.\n\n- Another\n\n<b>tag</b>",
      "Numbers follow\n1. one",
      "See www.example.com for it",
    ];
    await session.append(
      texts.map((content) => ({ role: "user" as const, actor: "ana", content })),
    );
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    const shown = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".markdown")].map(({ innerHTML }) =>
          innerHTML.replace(/>\s+</g, "><").trim(),
        ),
      );
    await expect
      .poll(shown)
      .toEqual([
        "<p>Prose of one line.<br>The second, isn't it?</p><p>Another paragraph (the last).</p>",
        "<p>Prose of <em>one</em> line.<br>The second.</p><ul><li>Another</li></ul><p>&lt;b&gt;tag&lt;/b&gt;</p>",
        "<p>Numbers follow</p><ol><li>one</li></ol>",
        '<p>See <a href="http://www.example.com" rel="noreferrer noopener" target="_blank">www.example.com</a> for it</p>',
      ]);
    expect(wrongs).toEqual([]);
  });

  test("a compaction is a line that opens to its summary and leads to the covered messages", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    for (let at = 0; at < 12; at++) {
      await session.append({
        role: at % 2 === 0 ? "user" : "assistant",
        actor: "a",
        content: `Said ${at}, ${"and more ".repeat(9)}`,
      });
    }
    await session.compact({ keep: { messages: 4 }, before: () => ({ summary: "It was said." }) });
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    await page.getByRole("button", { name: "Compacted here" }).click();
    await page.getByText("It was said.").waitFor();
    await page.getByRole("link", { name: "the first" }).click();
    await page.locator(".message.target").getByText("Said 0").waitFor();
    expect(wrongs).toEqual([]);
  });

  test("a deleted session, or another tenant's, is reported", async ({ onTestFinished }) => {
    const other = await world.engine
      .forTenant("other")
      .createSession({ agent: "coder", createdBy: "eve", title: "Not yours" });
    const { page } = await openWatched(world, `#/session/${other.id}`, { onTestFinished });
    await page.getByText("There is no such session here").waitFor();
    expect(await page.content()).not.toContain("Not yours");
  });
});
