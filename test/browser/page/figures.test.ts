/** What the page says about a session as a whole: calls without results, tokens, cost. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonValue } from "../../../src/model/json.ts";
import { closeBrowserAfterAll, describeInBrowser } from "../../support/browser.ts";
import { createPageWorld, openWatched, type PageWorld } from "./page-world.ts";

closeBrowserAfterAll();

describeInBrowser("a session", () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await createPageWorld();
  });
  afterAll(() => world.close());

  test("a call has its result whatever page it is on, else it says that it has none", async ({
    onTestFinished,
  }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    // The index of the message with each call's result, in pages of 50.
    const results = new Map([
      ["near", 1],
      ["far", 30],
      ["beyond", 80],
    ]);
    const toolCalls = ["near", "far", "beyond", "never"].map((id) => ({ id, name: id, input: {} }));
    await session.append([
      { role: "assistant", actor: "coder", content: "Calls", toolCalls },
      ...Array.from({ length: 89 }, (_, at) => {
        const [call] = [...results].find(([, index]) => index === at + 1) ?? [];
        return call === undefined
          ? ({ role: "user", actor: "ana", content: `Message ${at + 1}` } as const)
          : ({ role: "tool", toolResults: [{ id: call, output: "done" }] } as const);
      }),
    ]);
    const { page, wrongs } = await openWatched(world, `#/session/${session.id}`, {
      onTestFinished,
    });
    const open = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".call")]
          .filter((call) => call.querySelector("em")?.textContent === "no result")
          .map((call) => call.querySelector("b")?.textContent),
      );
    // What is beyond the first pages is read for them.
    await expect.poll(open).toEqual(["never"]);
    expect(wrongs).toEqual([]);
  });

  test("its sub-agents are counted whole, in the list and at its head, and a cut list says so", async ({
    onTestFinished,
  }) => {
    const create = (key: string, metadata: Record<string, JsonValue> = {}) =>
      world.engine.createSession({
        agent: "starter",
        createdBy: "ana",
        title: `Of ${key}`,
        metadata,
        origin: { key, source: "starter" },
      });
    const main = await create("m");
    for (let at = 0; at < 123; at++) {
      const machineMade = at < 2 ? { machineMade: true } : {};
      await create(`m/${at}`, { parent: { key: "m" }, ...machineMade });
    }
    await create("m/1/deeper", { parent: { key: "m/1" } });
    await create("later", { parent: { key: "m" } });
    await main.append({ role: "user", actor: "ana", content: "Look at everything" });
    const { page, wrongs } = await openWatched(world, "#/?agent=starter", { onTestFinished });
    await page.locator(".family").getByRole("button", { name: "121 sub-agents" }).click();
    await page.locator(".family").getByText("The newest 100 of 121 sub-agents.").waitFor();
    await expect.poll(() => page.locator(".family .session").count()).toBe(100);
    await page.goto(`${world.url()}/#/session/${main.id}`);
    const head = page.locator(".session-head");
    await head.getByRole("button", { name: "121 sub-agents, 1 continuation" }).click();
    await head.getByText("The newest 100 of 121 sub-agents.").waitFor();
    expect(await head.locator(".sub-list a").count()).toBe(101);
    expect(wrongs).toEqual([]);
  });

  test("its head has the tokens of the list and its cost", async ({ onTestFinished }) => {
    const session = await world.engine.createSession({ agent: "coder", createdBy: "ana" });
    const usage = {
      inputTokens: 1_000,
      outputTokens: 2_000,
      cacheCreationTokens: 30_000,
      cacheReadTokens: 967_000,
    };
    const model = "claude-opus-4.8";
    await session.append({ role: "assistant", actor: "coder", content: "Done", model, usage });
    await session.append({ role: "assistant", actor: "coder", content: "Nameless", usage });
    const { page } = await openWatched(world, `#/session/${session.id}`, { onTestFinished });
    const head = page.locator(".session-head");
    await head.getByText("2M tokens", { exact: true }).waitFor();
    // 1,000 × 5 + 2,000 × 25 + 30,000 × 6.25 + 967,000 × 0.5 microdollars.
    await head.getByText("$0.73", { exact: true }).waitFor();
    await page.goto(`${world.url()}/#/usage`);
    await page.getByText("by list prices").waitFor();
    expect(await page.getByText("Without a known price").count()).toBe(0);
  });
});
