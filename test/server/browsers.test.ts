/** Cross-site requests of browsers: which are refused, and which responses a page can read. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request } from "./raw-request.ts";
import { createWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe("requests of browsers", () => {
  const ask = (path: string, headers: Record<string, string>) => request(world.url, path, headers);

  test("caused by a page of another site are refused", async () => {
    await world.withServer({}, async ({ url }) => {
      const status = async (path: string, headers: Record<string, string>) =>
        (await request(url, path, headers)).status;
      const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" };
      for (const site of ["cross-site", "same-site"]) {
        const headers = { ...browser, "sec-fetch-site": site };
        for (const path of [
          "/v1/backup",
          "/v1/search?q=x",
          "/v1/sessions",
          "/metrics",
          "/readyz",
        ]) {
          expect([path, await status(path, headers)]).toEqual([path, 403]);
        }
        // Navigation to cheap resources is allowed.
        expect(await status("/docs", headers)).toBe(200);
      }
      for (const site of ["same-origin", "none"]) {
        expect(await status("/v1/sessions", { ...browser, "sec-fetch-site": site })).toBe(200);
      }
      // A browser too old for `Sec-Fetch-Site`.
      expect(await status("/v1/backup", browser)).toBe(403);
      expect(await status("/v1/sessions", { ...browser, referer: `${url}/docs` })).toBe(200);
      expect(await status("/v1/sessions", { ...browser, referer: "https://evil.example/" })).toBe(
        403,
      );
      expect(await status("/v1/sessions", { "user-agent": "curl/8.0" })).toBe(200);
    });
  });

  test("with a token need no other proof, unless they declare a foreign site", async () => {
    const { authorization = "" } = world.headersOf("reader");
    const browser = { "user-agent": "Mozilla/5.0", authorization };
    expect((await ask("/v1/sessions", browser)).status).toBe(200);
    const foreign = await ask("/v1/sessions", { ...browser, "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(403);
    expect(JSON.parse(foreign.body.toString())).toMatchObject({
      code: "forbidden",
      details: { field: "sec-fetch-site" },
    });
  });

  test("of configured origins are accepted from their own site", async () => {
    await world.withServer({ allowOrigins: ["https://app.example"] }, async ({ url }) => {
      const headers = { origin: "https://app.example", "sec-fetch-site": "cross-site" };
      expect((await request(url, "/v1/sessions", headers)).status).toBe(200);
    });
  });

  test("get answers that cannot be sniffed or framed", async () => {
    const { authorization = "" } = world.headersOf("operator");
    for (const [path, headers, status] of [
      ["/healthz", {}, 200],
      ["/docs", {}, 200],
      ["/v1/openapi.json", { "accept-encoding": "gzip" }, 200],
      ["/v1/sessions", { authorization }, 200],
      ["/metrics", { authorization }, 200],
      [`/v1/sessions/${world.ids["session"]}/export?format=html`, { authorization }, 200],
      ["/v1/sessions", {}, 401],
      ["/v1/sessions/nobody", { authorization }, 404],
      ["/nothing", {}, 404],
      ["/healthz", { host: "evil.example" }, 403],
    ] as const) {
      const answer = await ask(path, headers);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
      expect(answer.headers["cross-origin-resource-policy"]).toBe("same-origin");
    }
  });
});
