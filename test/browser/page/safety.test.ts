/** Safety: hostile transcripts in every view, tokens, and what leaves the origin. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { closeBrowserAfterAll, describeInBrowser } from "../../support/browser.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

const RUN = "globalThis.pwned = true";
const HOSTILE = [
  `<img src=x onerror="${RUN}"><script>${RUN}</script>`,
  `<svg><style><img src=x onerror="${RUN}"></style></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
  `[one](javascript:${RUN}) [two](data:text/html,<script>${RUN}</script>) <javascript:${RUN}>`,
  `![remote](https://evil.example/pixel.png) <iframe src="https://evil.example"></iframe>`,
  `<a href="https://evil.example" onclick="${RUN}">x</a> <form action="https://evil.example">`,
  `\u202Egnp.exe\u202C and \u2066isolated\u2069 and \u0000\u0007 control`,
  `<style>* { background: url(https://evil.example/x) }</style>`,
  "```html\n<script>alert(1)</script>\n```\n\n| a | b |\n|---|---|\n| <b>x</b> | `y` |",
];

closeBrowserAfterAll();

describeInBrowser("hostile transcripts", () => {
  let world: PageWorld;
  let id = "";
  beforeAll(async () => {
    world = await createPageWorld();
    const session = await world.engine.createSession({
      agent: HOSTILE[0] ?? "",
      title: HOSTILE[0] ?? "",
      createdBy: "eve",
      origin: { projectPath: `/src/${HOSTILE[1]}`, workstation: HOSTILE[2] ?? "" },
    });
    id = session.id;
    for (const text of HOSTILE) {
      await session.append({ role: "user", actor: HOSTILE[5] ?? "", content: `needle ${text}` });
    }
    await session.append([
      {
        role: "assistant",
        actor: "eve",
        content: [
          { type: "thinking", text: HOSTILE[0] ?? "" },
          ...HOSTILE.map((text, at) => ({
            type: "tool_use" as const,
            id: `t${at}`,
            name: HOSTILE[0] ?? "",
            input: { command: text },
          })),
          { type: "image", url: "https://evil.example/a.png" },
          {
            type: "image",
            mediaType: "image/svg+xml",
            data: btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>`),
          },
        ],
      },
      {
        role: "tool",
        actor: "eve",
        content: HOSTILE.map((text, at) => ({
          type: "tool_result" as const,
          toolUseId: `t${at}`,
          output: text,
          isError: true,
        })),
      },
      { role: "user", actor: "eve", content: "long ".repeat(1_600_000) },
      {
        role: "user",
        actor: "eve",
        content: Array.from({ length: 2_000 }, (_, at) => ({
          type: "text" as const,
          text: `Block ${at}`,
        })),
      },
    ]);
    await world.engine.putMemory({
      agent: "eve",
      name: HOSTILE[0] ?? "",
      content: HOSTILE[3] ?? "",
    });
    await session.addFacts([
      { subject: HOSTILE[0] ?? "", predicate: "is", object: HOSTILE[2] ?? "" },
    ]);
  });
  afterAll(() => world.close());

  // The first is what Chromium reports where LANG is C.
  for (const tag of ["en-US@posix", "", "tr-TR"]) {
    test(`every view is shown where the browser's language is "${tag}", and executes nothing`, async ({
      onTestFinished,
    }) => {
      const { page, wrongs } = await openWatched(world, "#/store", { onTestFinished });
      const speaking = await page.addInitScript((language) => {
        Object.defineProperty(Navigator.prototype, "language", { get: () => language });
        Object.defineProperty(Navigator.prototype, "languages", { get: () => [language] });
      }, tag);
      onTestFinished(() => speaking.dispose());
      await page.reload();
      expect(await page.evaluate(() => navigator.language)).toBe(tag);
      for (const [view, shown] of [
        ["#/", ".find li"],
        ["#/?q=needle", ".hit"],
        ["#/usage", ".chart .days i"],
        ["#/memory", "main :is(li, dd)"],
        ["#/store", "main :is(li, dd)"],
        [`#/session/${id}`, ".content"],
      ] as const) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, view);
        await page.locator(shown).first().waitFor({ state: "attached" });
        expect(await page.evaluate(() => "pwned" in globalThis)).toBe(false);
      }
      expect(wrongs).toEqual([]);
    });
  }

  test("a session shows their tags as text, without links of theirs", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await openWatched(world, `#/session/${id}`, { onTestFinished });
    await page.getByText("<script>", { exact: false }).first().waitFor();
    const look = () =>
      page.evaluate(() => {
        const content = [...document.querySelectorAll(".content")];
        const all = (what: string) => content.flatMap((one) => [...one.querySelectorAll(what)]);
        return {
          scripts: all("script, iframe, form, style, svg, math").length,
          hrefs: all("a[href]").map((link) => link.getAttribute("href")?.split(":")[0]),
          images: all("img").map((image) => image.getAttribute("src")?.slice(0, 5)),
        };
      });
    // Rows outside of the view and their Markdown come after the first paint.
    await expect.poll(async () => (await look()).hrefs).toContain("https");
    const found = await look();
    expect(found.scripts).toBe(0);
    expect(new Set(found.hrefs)).toEqual(new Set(["https"]));
    expect(found.images.every((source) => source === "data:")).toBe(true);
    await page.focus(".scroller");
    await page.keyboard.press("End");
    await page.getByText("Block 1999", { exact: true }).waitFor();
    // In the page: each fold that opens moves the others, and takes some of them out of the list.
    const openFolds = () =>
      page.evaluate(() => {
        const folds = document.querySelectorAll<HTMLElement>('.fold-line[aria-expanded="false"]');
        for (const fold of folds) fold.click();
        return folds.length;
      });
    await expect.poll(openFolds).toBe(0);
    expect(await page.evaluate(() => "pwned" in globalThis)).toBe(false);
    expect(wrongs).toEqual([]);
  });
});

describeInBrowser("hostile names", () => {
  let world: PageWorld;
  let id = "";
  const WIDE = "w".repeat(400);
  const BIDI = "\u202Egnp.exe\u202C and \u2066isolated";
  beforeAll(async () => {
    world = await createPageWorld();
    const session = await world.engine.createSession({
      agent: `\u202E${WIDE}`,
      title: BIDI,
      createdBy: "eve",
      origin: { projectPath: `/src/\u202E${WIDE}`, gitBranch: WIDE, workstation: WIDE },
    });
    id = session.id;
    const first = await session.append({
      role: "user",
      actor: `\u202E${WIDE}`,
      content: `${HOSTILE[0]} ${WIDE}`,
    });
    await session.append([
      {
        role: "assistant",
        actor: "eve",
        model: HOSTILE[1] ?? "",
        usage: { inputTokens: 5, outputTokens: 5 },
        content: [{ type: "tool_use", id: "t1", name: WIDE, input: { command: "\u001b[31mls" } }],
      },
      {
        role: "tool",
        actor: "eve",
        content: [
          { type: "tool_result", toolUseId: "t1", output: "\u001b[31mred\u001b[0m", isError: true },
        ],
      },
    ]);
    await session.edit(first.id, `${HOSTILE[1]} \u202E${WIDE}`);
    await session.fork({ createdBy: "eve", title: `${HOSTILE[2]} ${WIDE}` });
    await world.engine.putMemory({ agent: "eve", name: WIDE, content: `\u202E${HOSTILE[0]}` });
    await session.addFacts([{ subject: WIDE, predicate: WIDE, object: BIDI }]);
  });
  afterAll(() => world.close());

  test("stand as text in the tree, the chips, the panels and usage, and fit 390 px", async ({
    onTestFinished,
  }) => {
    const viewport = { width: 390, height: 844 };
    const { page, wrongs } = await openWatched(world, "", { onTestFinished, viewport });
    const expectNarrow = async (what: string) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide, what).toBeLessThanOrEqual(0);
    };
    const goTo = (hash: string) =>
      page.evaluate((next) => {
        location.hash = next;
      }, hash);
    await page.locator(".session").first().waitFor();
    await page.getByRole("button", { name: "Model" }).click();
    await page.getByRole("option", { name: "<svg>" }).click();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await expectNarrow("the list");
    await goTo(`#/session/${id}`);
    await page.getByRole("button", { name: "2 branches, 1 fork" }).click();
    const lines = page.getByLabel("Branches and forks").getByRole("listitem");
    await expect.poll(() => lines.count()).toBe(3);
    await page.getByText("<math>", { exact: false }).first().waitFor();
    await expectNarrow("the tree");
    for (const panel of ["Export", "Share", "Retention"]) {
      await page.getByRole("button", { name: panel, exact: true }).click();
      await page.getByRole("group", { name: panel }).waitFor();
      await expectNarrow(panel);
    }
    await lines.getByRole("link", { name: "<script>" }).click();
    // A failed call is open.
    const call = page.locator(".call .fold-line");
    expect(await call.locator("code").textContent()).toBe("ls");
    expect(await page.locator("pre.output").textContent()).toBe("red");
    await expectNarrow("the session");
    await goTo("#/usage");
    await page.getByRole("link", { name: "<svg>" }).waitFor();
    await expectNarrow("usage");
    await goTo("#/memory");
    await page.locator(".note-text").waitFor();
    await expectNarrow("memory");
    expect(await page.evaluate(() => "pwned" in globalThis)).toBe(false);
    expect(wrongs).toEqual([]);
  });
});

describeInBrowser("a server that wants a token", () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await createPageWorld({ requireToken: true });
    const session = await world.engine.createSession({ agent: "a", createdBy: "b", title: "Kept" });
    await session.append({ role: "user", actor: "b", content: "Inside" });
  });
  afterAll(() => world.close());

  test("a form asks for it, keeps it in memory alone, and asks again once it is revoked", async ({
    onTestFinished,
  }) => {
    const { token, record } = await world.engine.createToken({ scope: "read", actor: "ana" });
    const { page } = await openWatched(world, "", { onTestFinished });
    await page.fill("#token", "wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").waitFor();
    await page.fill("#token", token);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("Kept").click();
    await page.getByText("Inside").waitFor();
    expect(page.url()).not.toContain(token);
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await world.engine.revokeToken(record.id);
    // The followed session may show the form by itself first, and a click would then find no link.
    await page.evaluate(() => {
      location.hash = "#/usage";
    });
    await page.locator("#token").waitFor();
  });

  test("it stays in the tab only on request", async ({ onTestFinished }) => {
    const { token } = await world.engine.createToken({ scope: "read", actor: "ana" });
    const { page } = await openWatched(world, "", { onTestFinished });
    await page.fill("#token", token);
    await page.getByLabel("Keep it until this tab is closed").check();
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("Kept").waitFor();
    await page.reload();
    await page.getByText("Kept").waitFor();
  });
});
