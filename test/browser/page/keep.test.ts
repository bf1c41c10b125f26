/** Keeping and sharing: the tree, exports, links, retention, memories, and what asks first. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionHandle } from "../../../src/index.ts";
import { note, readLog } from "../../../src/unasked/log.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../../support/browser.ts";
import { createFolder } from "../../support/folder.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

closeBrowserAfterAll();

describeInBrowser("keeping and sharing", () => {
  let world: PageWorld;
  let session: SessionHandle;
  beforeAll(async () => {
    world = await createPageWorld();
    session = await world.engine.createSession({ agent: "coder", createdBy: "ana", title: "Keys" });
    await session.append([
      { role: "user", actor: "ana", content: `The key is ${SECRET}` },
      { role: "assistant", actor: "coder", content: "## Kept\n\nNoted." },
      {
        role: "user",
        actor: "ana",
        content: [{ type: "image", mediaType: "image/png", data: PIXEL }],
      },
    ]);
  });
  afterAll(() => world.close());

  const open = async (at: SessionHandle, options: Parameters<typeof openWatched>[2]) => {
    const watched = await openWatched(world, `#/session/${at.id}`, options);
    await watched.page.locator(".message").first().waitFor();
    return watched;
  };

  test("an image of the conversation is shown from the store", async ({ onTestFinished }) => {
    const { page, wrongs } = await open(session, { onTestFinished });
    const width = () =>
      page.locator("img.image").evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBe(1);
    expect(wrongs).toEqual([]);
  });

  test("exports are HTML, Markdown and JSON, with secrets masked unless asked otherwise", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open(session, { onTestFinished });
    const folder = createFolder();
    await page.getByRole("button", { name: "Export" }).click();
    const save = async (name: string) => {
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      const file = await saved;
      const place = join(folder, file.suggestedFilename());
      await file.saveAs(place);
      return { name: file.suggestedFilename(), text: await readFile(place, "utf8") };
    };
    for (const [format, ending] of [
      ["HTML", "html"],
      ["Markdown", "md"],
      ["JSON", "json"],
    ] as const) {
      const { name, text } = await save(format);
      expect(name.endsWith(`.${ending}`), format).toBe(true);
      expect(text, format).toContain("Noted.");
      expect(text, format).not.toContain(SECRET);
      if (format === "JSON") expect(JSON.parse(text)).toHaveProperty("steps");
    }
    await page.getByLabel("Do not mask secrets").check();
    expect((await save("Markdown")).text).toContain(SECRET);
    expect(wrongs).toEqual([]);
  });

  test("a link shows the masked session to its holder, until it is revoked", async ({
    onTestFinished,
  }) => {
    const { page, wrongs } = await open(session, { onTestFinished });
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByLabel("Expiry").selectOption({ label: "for a day" });
    await page.getByRole("button", { name: "Create link" }).click();
    const told = await page.locator(".panel-pop p.hash").textContent();
    const link = told?.split(/\s/)[0] ?? "";
    expect(link.startsWith(world.url())).toBe(true);
    await page.getByText(/^the link above, created .*, expires /).waitFor();
    // A shared session is sandboxed and has no storage to clear, so its page is not reused.
    const guest = await openPage({ onTestFinished, viewport: { width: 800, height: 600 } });
    expect((await guest.goto(link))?.status()).toBe(200);
    const shown = await guest.content();
    expect(shown).toContain("Noted.");
    expect(shown).not.toContain(SECRET);
    await guest.getByRole("heading", { name: "Kept", exact: true }).waitFor();
    const width = () =>
      guest.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBe(1);
    await page.getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => page.getByText(/, expires /).count()).toBe(0);
    expect((await guest.goto(link))?.status()).toBe(404);
    expect(wrongs).toEqual([]);
  });

  test("a session is exported and shared by keys alone", async ({ onTestFinished }) => {
    const { page, wrongs } = await open(session, { onTestFinished });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.getByRole("button", { name: "Export" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("HTML");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Markdown");
    const saved = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    expect((await saved).suggestedFilename()).toMatch(/\.md$/);
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("Export");
    await expect.poll(() => page.locator(".panel-pop").count()).toBe(0);
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Share");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Expiry");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Create link");
    await page.keyboard.press("Enter");
    await page.getByText("Copy it now").waitFor();
    await page.getByRole("button", { name: "Revoke" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByText(/, expires /).count()).toBe(0);
    expect(wrongs).toEqual([]);
  });

  test("the tree draws branches, edits and forks with their fork points, and links to each", async ({
    onTestFinished,
  }) => {
    const tree = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    await tree.append({ role: "user", actor: "ana", content: "First" });
    await tree.append({ role: "assistant", actor: "coder", content: "Second" });
    const asked = await tree.append({ role: "user", actor: "ana", content: "Old third" });
    await tree.edit(asked.id, "New third", { actor: "ana" });
    const fork = await tree.fork({ createdBy: "ana", title: "Elsewhere" });
    const { page, wrongs } = await open(tree, { onTestFinished });
    await page.getByRole("button", { name: "2 branches, 1 fork" }).click();
    const lines = page.getByLabel("Branches and forks").getByRole("listitem");
    await expect
      .poll(() => lines.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^First\s+from the start · 3 messages/),
        expect.stringMatching(/^New third\s+active · edit at #2 · 3 messages/),
        expect.stringMatching(/^Elsewhere\s+fork at #3/),
      ]);
    await expect.poll(() => page.locator(".tree-drawing .stem").count()).toBe(4);
    await lines.getByRole("link", { name: "First" }).click();
    await page.locator(".message").getByText("Old third").waitFor();
    await page.getByRole("button", { name: "2 branches, 1 fork" }).click();
    await lines.getByRole("link", { name: "Elsewhere" }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/session/${fork.id}`);
    await page.locator(".message").getByText("New third").waitFor();
    expect(wrongs).toEqual([]);
  });

  test("the retention of a session changes only after a confirmation", async ({
    onTestFinished,
  }) => {
    const own = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    await own.append({
      role: "user",
      actor: "ana",
      content: `Door code 4711${" at the door".repeat(20)}`,
    });
    await own.append({ role: "assistant", actor: "coder", content: "Noted." });
    await own.compact({ keep: { messages: 1 }, before: () => ({ summary: "A code was told." }) });
    const { page, wrongs } = await open(own, { onTestFinished });
    await page.locator(".message").getByText("Door code 4711").waitFor();
    await page.getByRole("button", { name: "Retention" }).click();
    await page.getByLabel("Of those, keep").selectOption("audit-only");
    await page.getByLabel("Delete the session").selectOption("30");
    await page.getByRole("button", { name: "Change …" }).click();
    await answer(page, "Cancel");
    expect((await own.meta()).retention).toBe("full");
    await page.getByRole("button", { name: "Change …" }).click();
    await answer(page, "Change");
    await page.getByText("Changed. 1 message erased.").waitFor();
    await page.getByText("The content was erased").waitFor();
    expect(await own.meta()).toMatchObject({ retention: "audit-only", ttl: 30 * 86_400 });
    expect(wrongs).toEqual([]);
  });

  test("deleting a session asks first, and its readers see the deletion", async ({
    onTestFinished,
  }) => {
    const own = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    await own.append({ role: "user", actor: "ana", content: "Soon gone" });
    const { page } = await open(own, { onTestFinished });
    const reader = await open(own, { onTestFinished });
    await page.getByRole("button", { name: "Delete" }).click();
    const question = page.getByRole("dialog", { name: "Delete this session?" });
    await question.waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    await expect.poll(() => page.locator(".message").count()).toBe(1);
    await page.getByRole("button", { name: "Delete" }).click();
    await answer(page, "Delete");
    await page.locator("#query").waitFor();
    await reader.page.getByText("This session was deleted while you read it.").waitFor();
    await expect.poll(() => reader.page.getByText("Soon gone").count()).toBe(0);
  });

  test("a candidate is accepted or rejected, and a rule taken out of force", async ({
    onTestFinished,
  }) => {
    const said = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const content = "Always run the tests first.\nI prefer short answers without lists.";
    await said.append({ role: "user", actor: "ana", content });
    const { page, wrongs } = await openWatched(world, "#/memory", { onTestFinished });
    await page.getByRole("button", { name: "Accept: Always run the tests first." }).click();
    const remove = page.getByRole("button", { name: "Remove: Always run the tests first." });
    await remove.waitFor();
    await page.getByRole("button", { name: /^Reject: I prefer short answers/ }).click();
    await page.getByText("I prefer short answers").waitFor({ state: "detached" });
    const { rules } = await world.engine.listRules();
    expect(rules.map(({ status, owner }) => [status, owner])).toEqual([["in_force", "ana"]]);
    await remove.click();
    await page.getByText("No such sentence was found.").waitFor();
    expect(wrongs).toEqual([]);
    await world.engine.deleteSession(said.id);
  });

  test("what was said unasked is listed, and refused", async ({ onTestFinished }) => {
    const said = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const hit = { sessionId: said.id, shortId: said.id, index: 0 };
    const [text, person] = ["<recalled-context>\nWorked then: make lint\n</recalled-context>", ""];
    const place = { moment: "error", agent: "codex", session: "s", cwd: "/srv/shop" } as const;
    const tenant = world.engine.forTenant("default");
    await note(tenant, { ...place, at: Date.now(), said: true, text, person, hit, signs: [] });
    const { page, wrongs } = await openWatched(world, "#/memory", { onTestFinished });
    await page.getByText(/^said · codex · \/srv\/shop · a command that failed before/).waitFor();
    await page.getByRole("button", { name: "Not again: Worked then: make lint" }).click();
    await page.getByText(/^not again · codex/).waitFor();
    expect(await readLog(tenant)).toMatchObject([{ unwanted: true, number: 1 }]);
    expect(wrongs).toEqual([]);
    await world.engine.deleteSession(said.id);
  });

  test("a memory is edited, and deleted after a confirmation", async ({ onTestFinished }) => {
    await world.engine.putMemory({ agent: "coder", name: "rules", content: "Test first." });
    const { page, wrongs } = await openWatched(world, "#/memory", { onTestFinished });
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Content of rules").fill("Test always.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Test always.").waitFor();
    expect((await world.engine.getMemory("coder", "rules")).content).toBe("Test always.");
    await page.getByRole("button", { name: "Delete" }).click();
    await answer(page, "Delete");
    await page.getByText("No agent has stored a memory.").waitFor();
    expect(wrongs).toEqual([]);
  });
});

async function answer(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: button, exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
}
