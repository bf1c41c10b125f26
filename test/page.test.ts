/** The page as it is built and served, without a browser. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, open } from "../src/index.ts";
import { openServer, type RunningServer } from "../src/server/serve.ts";
import { request } from "./server/raw-request.ts";

const BUILT = join(import.meta.dirname, "../dist/page");

let engine: Engine;
let server: RunningServer;
beforeAll(async () => {
  engine = await open(":memory:");
  server = await openServer(engine, { version: "0.0.0", port: 0 });
});
afterAll(async () => {
  await server.stop(0);
  await engine.close();
});

/** Scripts in the document. */
function firstScripts(): string[] {
  const html = readFileSync(join(BUILT, "index.html"), "utf8");
  return [...html.matchAll(/(?:src|modulepreload" href)="(assets\/[^"]+\.js)"/g)].map(
    ([, name = ""]) => name,
  );
}

const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("the first script has at most 60 KB, packed", () => {
  const scripts = firstScripts();
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.map((name) => statSync(join(BUILT, `${name}.gz`)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
});

test("browsers get the page at /, with a policy against inline scripts; programs get JSON", async () => {
  const page = await fetch(server.url, { headers: asBrowser });
  expect(page.status).toBe(200);
  expect(page.headers.get("cache-control")).toBe("no-cache");
  const policy = page.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(await page.text()).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|style="/);
  const places = await fetch(server.url, { headers: { accept: "*/*" } });
  expect(await places.json()).toMatchObject({ docs: "/docs", mcp: "/mcp" });
});

test("the document has the access of callers without a token, where they have any", async () => {
  const hintOf = async (url: string) => {
    const html = await (await fetch(url, { headers: asBrowser })).text();
    const hint = /<meta name="backscroll-access" content="([^"]*)">/.exec(html)?.[1];
    return hint === undefined ? undefined : JSON.parse(decodeURIComponent(hint));
  };
  const access = await fetch(`${server.url}/v1/access`);
  expect(await hintOf(server.url)).toEqual(await access.json());
  const guarded = await openServer(engine, { version: "0.0.0", port: 0, requireToken: true });
  try {
    expect(await hintOf(guarded.url)).toBeUndefined();
  } finally {
    await guarded.stop(0);
  }
});

test("assets are immutable, and compressed as the caller accepts", async () => {
  const [name = ""] = firstScripts();
  const plain = readFileSync(join(BUILT, name));
  const url = `${server.url}/${name}`;
  const ways = [
    { accepts: "gzip, br", encoding: "br", unpack: brotliDecompressSync },
    { accepts: "gzip", encoding: "gzip", unpack: gunzipSync },
    { accepts: "br;q=0, gzip;q=0", encoding: "identity", unpack: (bytes: Buffer) => bytes },
  ];
  for (const { accepts, encoding, unpack } of ways) {
    const answer = await request(url, "", { "accept-encoding": accepts });
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(unpack(answer.body).equals(plain)).toBe(true);
  }
});

test("files outside the build are not found, by any path", async () => {
  for (const name of [
    "assets/x.js",
    "assets/..%2findex.html",
    "assets/%2e%2e%2f%2e%2e%2fpackage.json",
  ]) {
    expect((await fetch(`${server.url}/${name}`)).status).toBe(404);
  }
});
