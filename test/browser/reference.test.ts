/** `/docs` in a real browser, and its description of every route. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { type Engine, open } from "../../src/index.ts";
import { check } from "../../src/server/check.ts";
import { openApiDocument } from "../../src/server/openapi.ts";
import { exampleOf } from "../../src/server/reference/example.ts";
import { ROUTES } from "../../src/server/routes/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../support/browser.ts";

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

let engine: Engine;
let server: RunningServer;
beforeAll(async () => {
  engine = await open(":memory:");
  server = await openServer(engine, { version: "0.0.0", port: 0 });
});
afterAll(async () => {
  await server.stop();
  await engine.close();
});
closeBrowserAfterAll();

test("every example body is valid for its route", () => {
  const { paths, components } = openApiDocument(ROUTES, "0.0.0") as unknown as Document;
  for (const route of ROUTES) {
    const { content } = paths[route.path]?.[route.method]?.requestBody ?? {};
    const schema = content?.["application/json"]?.schema;
    if (schema === undefined) continue;
    const example = exampleOf(schema, components.schemas);
    expect(() => check(route.body as z.ZodType, example, "body"), route.operation).not.toThrow();
  }
});

describeInBrowser("the reference", () => {
  test("fits a phone, breaks no policy, and finds operations", async ({ onTestFinished }) => {
    const page = await openPage({ onTestFinished, viewport: { width: 390, height: 800 } });
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    const answer = await page.goto(`${server.url}/docs#append`);
    expect(answer?.headers()["content-security-policy"]).not.toContain("unsafe");
    expect(await page.locator("details").count()).toBe(ROUTES.length);
    // Opened by the address: a body with its types, limits, an example and errors.
    const append = page.locator("#append");
    await expect.poll(() => append.getAttribute("open")).toBe("");
    const text = await append.textContent();
    for (const words of [
      "messages[].role",
      "one of user",
      "16 MiB",
      "curl -X POST",
      "stale_leaf",
    ]) {
      expect(text).toContain(words);
    }
    // Everything open at once is the widest that it gets.
    await page.evaluate(
      `for (const item of document.querySelectorAll("details")) item.open = true`,
    );
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);

    await page.keyboard.press("/");
    await page.keyboard.type("facets as_you_type");
    await expect.poll(() => page.locator("details:visible").count()).toBe(2);
    await expect.poll(() => page.locator("#found").textContent()).toBe("2 operations");
    expect(complaints).toEqual([]);
  });
});
