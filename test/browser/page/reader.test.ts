/** Reading a session of an agent: runs of calls, notes of clients, the map, finding in it, keys. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionHandle } from "../../../src/index.ts";
import { closeBrowserAfterAll, describeInBrowser } from "../../support/browser.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

closeBrowserAfterAll();

const says = (content: string) => ({ role: "user", actor: "ana", content }) as const;
const answers = (content: string) => ({ role: "assistant", actor: "coder", content }) as const;
/** A call and its result. */
function does(
  id: string,
  name: string,
  input: Record<string, string>,
  output: string,
  isError = false,
) {
  return [
    {
      role: "assistant" as const,
      actor: "coder",
      content: [{ type: "tool_use" as const, id, name, input }],
    },
    {
      role: "tool" as const,
      content: [{ type: "tool_result" as const, toolUseId: id, output, isError }],
    },
  ];
}

/** The texts of the rows that are shown. */
function rows(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".message .content")].map((row) =>
      (row.textContent ?? "").replace(/\s+/g, " ").trim(),
    ),
  );
}

describeInBrowser("a session of an agent", () => {
  let world: PageWorld;
  let session: SessionHandle;
  let ids: readonly string[] = [];
  beforeAll(async () => {
    world = await createPageWorld();
    const hour = Date.now() - 3_600_000;
    session = await world.engine.createSession({ agent: "coder", createdBy: "ana", title: "Tax" });
    const entries = [
      { role: "system", content: "You are an agent." },
      says("# AGENTS.md instructions for /src\n\nBe short."),
      says("<system-reminder>Hurry.</system-reminder>Round the tax once"),
      {
        ...answers(""),
        content: [{ type: "opaque", provider: "x", json: '{"encrypted_content":"e"}' }],
      },
      ...does("1", "Read", { file_path: "/src/tax.ts" }, "const walrus = 1;"),
      ...does(
        "2",
        "Edit",
        { file_path: "/src/tax.ts", old_string: "a\nb", new_string: "a\nb\nc" },
        "done",
      ),
      ...does("3", "Bash", { command: "npm test" }, "walrus  expected", true),
      ...does("4", "Grep", { pattern: "walrus", path: "/src" }, "tax.ts:1"),
      { ...answers(" "), content: [{ type: "text", text: " " }] },
      answers("Rounded: the walrus is gone."),
      says("Now the discount"),
      ...does("far", "Bash", { command: "sleep 1" }, "not here yet").slice(0, 1),
      ...Array.from({ length: 120 }, (_, at) => answers(`Step ${at}`)),
      ...does("far", "Bash", { command: "sleep 1" }, "woke up").slice(1),
      answers("Discounted."),
    ];
    const stored = [];
    for (let from = 0; from < entries.length; from += 50) {
      const part = entries.slice(from, from + 50).map((entry) => ({ ...entry, createdAt: hour }));
      stored.push(...(await session.append(part as Parameters<SessionHandle["append"]>[0] & [])));
    }
    ids = stored.map(({ id }) => id);
  });
  afterAll(() => world.close());

  const open = (
    hash: string,
    onTestFinished: Parameters<typeof openWatched>[2]["onTestFinished"],
  ) => openWatched(world, `#/session/${session.id}${hash}`, { onTestFinished });

  test("shows a message that cannot be rendered as plain text, and all others as usual", async ({
    onTestFinished,
  }) => {
    const odd = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const [call] = does("1", "Bash", { command: "A stone" }, "");
    await odd.append([says("**Before**"), ...(call === undefined ? [] : [call])]);
    await odd.append(answers("**After**"));
    const { page, wrongs } = await openWatched(world, "", { onTestFinished, locale: "en-US" });
    // Any failure will do: here of a function that rendering calls.
    await page.evaluate(() => {
      const { replace } = String.prototype;
      String.prototype.replace = new Proxy(replace, {
        apply(target, self: string, given) {
          if (self.startsWith("A stone")) throw new RangeError("too odd");
          return Reflect.apply(target, self, given);
        },
      });
    });
    await page.evaluate((id) => {
      location.hash = `#/session/${id}`;
    }, odd.id);
    await page.locator(".failure").getByText("Message #1 cannot be shown as usual").waitFor();
    expect(await page.locator("[role=feed] pre.plain").textContent()).toBe('{"command":"A stone"}');
    await expect
      .poll(() => page.locator("[role=feed] strong").allTextContents())
      .toEqual(["Before", "After"]);
    // What is appended is rendered although the message before it failed.
    await odd.append(answers("**Later**"));
    await page.locator("[role=feed] strong").getByText("Later").waitFor();
    expect(wrongs).toEqual([]);
  });

  test("folds runs of calls and notes of the client into lines; a failed call stays open", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open("", onTestFinished);
    await page.getByText("1 read, 1 edit +1, 1 command, 1 other call").waitFor();
    const shown = (await rows(page)).slice(0, 6);
    expect(shown).toEqual([
      "▸instructions",
      "Round the tax once▸added by the agent",
      "▸1 read, 1 edit +1, 1 command, 1 other call1 failed",
      "▾Bashnpm testfailedwalrus expected",
      "Rounded: the walrus is gone.",
      "Now the discount",
    ]);
    await page.getByRole("button", { name: "1 read, 1 edit" }).click();
    await page.getByRole("button", { name: "Grep walrus in /src" }).waitFor();
    await page.getByRole("button", { name: "Edit /src/tax.ts +1" }).waitFor();
    await page.getByText("sealed reasoning").waitFor({ state: "detached" });
    expect(wrongs).toEqual([]);
  });

  test("says what was asked, how it ended and what it changed, and takes a name", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open("", onTestFinished);
    const gist = page.locator(".gist dl > div");
    await expect
      .poll(() => gist.allTextContents())
      .toEqual([
        "AskedRound the tax once",
        "Outcomeunfinished, 1 file, tests failed",
        "Changedtax.ts +1",
      ]);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Name of the session").fill("A tax by name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "A tax by name" }).waitFor();
    await expect.poll(() => page.title()).toBe("A tax by name · Backscroll");
    expect((await world.engine.getSessionMeta(session.id)).title).toBe("A tax by name");
    expect(wrongs).toEqual([]);
  });

  test("a commit opens its sessions, also by its whole hash in the search box", async ({
    onTestFinished,
  }) => {
    const hash = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    const made = await world.engine.createSession({ agent: "coder", title: "Round it" });
    await made.append([
      says("Commit the rounding"),
      ...does("c", "Bash", { command: "git commit -am x" }, `[main ${hash.slice(0, 8)}] Round it`),
    ]);
    const told = await world.engine.createSession({ agent: "coder", title: "Review it" });
    await told.append([says(`What did ${hash.slice(0, 7)} change?`)]);
    onTestFinished(async () => {
      await made.delete();
      await told.delete();
    });
    const { page, wrongs } = await openWatched(world, `#/session/${made.id}`, { onTestFinished });
    const titles = () => page.locator(".find [data-item]").allTextContents();
    const both = [expect.stringContaining("Review it"), expect.stringContaining("Round it")];
    await page.getByRole("link", { name: "its sessions" }).click();
    await expect.poll(async () => (await titles()).toSorted()).toEqual(both);
    await page.getByRole("searchbox").fill(hash);
    await expect.poll(async () => (await titles()).toSorted()).toEqual(both);
    expect(wrongs).toEqual([]);
  });

  test("a link to a result opens and marks its call, also pages before it", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open(`?m=${ids.at(-2)}`, onTestFinished);
    const call = page.locator(".message.target");
    await call.getByText("woke up").waitFor();
    expect(await call.textContent()).toContain("sleep 1");
    expect(wrongs).toEqual([]);
  });

  test("finds a text in the order of the messages, opens what was folded, and marks each place", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open("", onTestFinished);
    await page.getByText("Rounded:").waitFor();
    await page.keyboard.press("f");
    await page.keyboard.type("walrus");
    await page.getByText("1 of 4").waitFor();
    const found = async () =>
      (await page.locator(".message.target :is(.fold-line, p)").first().textContent())?.trim();
    for (const [at, text] of [
      "▾Read/src/tax.ts",
      "▾Bashnpm testfailed",
      "▾Grepwalrus in /src",
      "Rounded: the walrus is gone.",
    ].entries()) {
      if (at > 0) await page.keyboard.press("Enter");
      await page.getByText(`${at + 1} of 4`).waitFor();
      await expect.poll(found).toBe(text);
    }
    const marked = () => page.evaluate(() => CSS.highlights.get("sought")?.size);
    await expect.poll(marked).toBeGreaterThanOrEqual(4);
    await page.keyboard.press("Escape");
    await expect.poll(marked).toBeUndefined();
    expect(await page.locator("#find-in").inputValue()).toBe("");
    expect(wrongs).toEqual([]);
  });

  test("p pressed before the outline has arrived leads to the last prompt, also where all rows fit", async ({
    onTestFinished,
  }) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { page } = await openWatched(world, "#/", { onTestFinished });
    await page.setViewportSize({ width: 1_000, height: 6_000 });
    await page.route("**/outline*", async (route) => {
      await released;
      await route.continue();
    });
    await page.locator(".session").first().click();
    await page.getByText("Discounted.").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("p");
    release();
    await page.locator(".message.target").getByText("Now the discount").waitFor();
    await page.keyboard.press("p");
    await page.locator(".message.target").getByText("Round the tax once").waitFor();
  });

  test("End, Home, n and p work without a click, and the map leads to prompts and to where one was", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open("", onTestFinished);
    await page.getByText("Rounded:").waitFor();
    await page.keyboard.press("End");
    await page.getByText("Discounted.").waitFor();
    await page.keyboard.press("p");
    await page.locator(".message.target").getByText("Now the discount").waitFor();
    await page.keyboard.press("p");
    await page.locator(".message.target").getByText("Round the tax once").waitFor();
    await page.keyboard.press("n");
    await page.locator(".message.target").getByText("Now the discount").waitFor();
    await page.keyboard.press("Home");
    await page.getByText("instructions").waitFor();
    await page.getByRole("button", { name: "Map" }).click();
    const map = page.getByLabel("Map of the session");
    await expect
      .poll(() => map.locator("button:not(.last-seen)").allTextContents())
      .toEqual([
        expect.stringMatching(/Round the tax once\+1 · 1 failed/),
        expect.stringMatching(/Now the discount/),
      ]);
    await map.getByRole("button", { name: "Now the discount" }).click();
    await page.locator(".message.target").getByText("Now the discount").waitFor();
    await page.goto(`${world.url()}/#/`);
    await page.locator(".session").first().click();
    await page.getByText("Rounded:").waitFor();
    await page.getByRole("button", { name: "Map" }).click();
    await map.getByRole("button", { name: /Last seen here: #1\d/ }).waitFor();
    expect(wrongs).toEqual([]);
  });
});
