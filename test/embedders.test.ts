/** Embedders over real HTTP on loopback, by the AI SDK's own provider, and in a thread. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compatibleEmbedder, embeddingModel, localEmbedder } from "../src/models.ts";
import { retryAfterMs } from "../src/providers/embedding/compatible-embedder.ts";
import { guardEmbedder, toEmbedder } from "../src/providers/embedding/to-embedder.ts";
import {
  DIMENSIONS,
  type EmbeddingServer,
  fails,
  sendJson,
  startEmbeddingServer,
  vectorOf,
} from "./support/embedding-server.ts";

const AT_ONCE = { "retry-after": "0" };
let server: EmbeddingServer;

beforeAll(async () => {
  server = await startEmbeddingServer();
});

afterAll(() => server.close());

function embedder(options: { readonly maxRetries?: number; readonly dimensions?: number } = {}) {
  server.requests.length = 0;
  return compatibleEmbedder({ baseUrl: server.url, model: "m", apiKey: "sk-key", ...options });
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as { readonly details: object; readonly message: string },
  );

test("a server's vectors are in the order of the texts, and its tokens are counted", async () => {
  const own = embedder();
  const vectors = await own.embed(["a cat sleeps", "the car"]);
  expect(vectors).toEqual([vectorOf("a cat sleeps"), vectorOf("the car")]);
  expect(server.requests).toEqual([
    {
      path: "/v1/embeddings",
      authorization: "Bearer sk-key",
      model: "m",
      input: ["a cat sleeps", "the car"],
      dimensions: undefined,
    },
  ]);
  expect(own.use).toEqual({ calls: 1, texts: 2, tokens: 5, retries: 0 });
});

test("dimensions are requested if configured", async () => {
  const [vector] = await embedder({ dimensions: 8 }).embed(["short"]);
  expect(vector).toHaveLength(8);
  expect(server.requests[0]?.dimensions).toBe(8);
});

test("a rate limit and a failing server are retried", async () => {
  const own = embedder();
  server.next(fails(429, AT_ONCE), fails(503, AT_ONCE));
  expect(await own.embed(["x"])).toHaveLength(1);
  expect(server.requests).toHaveLength(3);
  expect(own.use).toEqual({ calls: 1, texts: 1, tokens: 1, retries: 2 });
});

test("gives up after the configured attempts, with the last failure", async () => {
  const own = embedder({ maxRetries: 1 });
  server.next(fails(429, AT_ONCE), fails(429, AT_ONCE));
  const failure = await failureOf(own.embed(["x"]));
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "http", status: 429 } });
  expect(server.requests).toHaveLength(2);
});

test("a refused key is not retried, and appears nowhere", async () => {
  const own = embedder();
  server.next(fails(401));
  const failure = await failureOf(own.embed(["a private text"]));
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "refused" } });
  expect(server.requests).toHaveLength(1);
  expect(inspect(failure, { depth: 9 })).not.toMatch(/sk-key|private text/);
});

test("a redirect is not followed: text goes to the configured address alone", async () => {
  const other = await startEmbeddingServer();
  try {
    server.next(fails(307, { location: `${other.url}/embeddings` }));
    const failure = await failureOf(embedder().embed(["x"]));
    expect(failure).toMatchObject({ code: "model_failed", details: { status: 307 } });
    expect(other.requests).toEqual([]);
  } finally {
    await other.close();
  }
});

test("an answer that lacks a vector is a failure, and not retried", async () => {
  const own = embedder();
  server.next((_, response) => sendJson(response, 200, { data: [{ embedding: [1, 0] }] }));
  const failure = await failureOf(own.embed(["a", "b"]));
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "nonsense" } });
  expect(server.requests).toHaveLength(1);
});

test("an abort ends a call that waits for its next attempt", async () => {
  const own = embedder();
  const controller = new AbortController();
  server.next((_, response) => {
    sendJson(response, 429, {}, { "retry-after": "30" });
    controller.abort();
  });
  const failure = await failureOf(own.embed(["x"], controller.signal));
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "aborted" } });
});

test("Retry-After is read in seconds and as a date, and bounded", () => {
  const after = (value: string) =>
    retryAfterMs({ responseHeaders: { "retry-after": value } }, Date.parse("2026-11-17T00:00:00Z"));
  expect(after("1.5")).toBe(1_500);
  expect(after("Tue, 17 Nov 2026 00:00:07 GMT")).toBe(7_000);
  expect(after("86400")).toBe(30_000);
  expect(after("soon")).toBeUndefined();
});

test("an embedding model of the AI SDK is accepted", async () => {
  const provider = createOpenAICompatible({ name: "own", baseURL: server.url });
  const own = embeddingModel(provider.embeddingModel("sdk-model"));
  server.requests.length = 0;
  server.next(fails(429, AT_ONCE));
  expect(await own.embed(["the car"])).toEqual([vectorOf("the car")]);
  expect(own).toMatchObject({ name: "sdk-model", use: { calls: 1, tokens: 2, retries: 1 } });
});

test("texts are masked and batched, and vectors normalised", async () => {
  const calls: (readonly string[])[] = [];
  const own = guardEmbedder({
    name: "own",
    embed: async (texts) => {
      calls.push(texts);
      return texts.map(() => [3, 4]);
    },
  });
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const texts = Array.from({ length: 70 }, (_, i) => `text ${i} ${secret}`);
  const vectors = await own.embed(texts);
  expect(calls.map((batch) => batch.length)).toEqual([64, 6]);
  expect(calls.flat().join()).not.toContain(secret);
  expect(vectors).toHaveLength(70);
  expect(vectors[0]).toEqual(Float32Array.from([0.6, 0.8]));
  expect(own.dimensions).toBe(2);
});

test.each([
  ["too few vectors", [[1, 0]]],
  ["vectors of different sizes", [[1, 0], [1]]],
  [
    "zero vectors",
    [
      [1, 0],
      [0, 0],
    ],
  ],
  [
    "NaN values",
    [
      [1, 0],
      [Number.NaN, 1],
    ],
  ],
])("%s are refused", async (_, vectors) => {
  const own = guardEmbedder({ name: "own", embed: async () => vectors });
  expect(await failureOf(own.embed(["a", "b"]))).toMatchObject({ details: { kind: "nonsense" } });
});

test("an invalid embedder is refused by name", () => {
  expect(() => toEmbedder("text-embedding-3-small" as never)).toThrow(/embedder must be/);
  expect(() => compatibleEmbedder({ baseUrl: "ftp://x", model: "m" })).toThrow(/baseUrl must be/);
  const wrong = { baseUrl: server.url, model: "m", dimension: 3 };
  expect(() => compatibleEmbedder(wrong as never)).toThrow(/did you mean dimensions/);
});

test("a local model runs in its own thread, from packages beside the host's", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-local-"));
  const own = (name: string, source: string) => {
    const at = join(folder, "node_modules", name);
    mkdirSync(at, { recursive: true });
    const exports = { ".": { import: "./index.js" } };
    writeFileSync(join(at, "package.json"), JSON.stringify({ name, type: "module", exports }));
    writeFileSync(join(at, "index.js"), source);
  };
  try {
    expect(() => localEmbedder({ from: folder, model: "no-such-model" })).toThrow(
      /not installed; npm install/,
    );
    own(
      "@lat.md/embed",
      `import { isMainThread } from "node:worker_threads";
      export const createEmbedder = async ({ model }) => ({
        embed: async (texts) => texts.map((text) => {
          if (text === "fail") throw new Error("out of words");
          return [isMainThread ? 1 : 2, model.dimensions, text.length];
        }),
      });`,
    );
    own("own-model", `export default { dimensions: ${DIMENSIONS} };`);
    const local = localEmbedder({ from: folder, model: "own-model" });
    const vectors = await local.embed(["a", "four"]);
    expect(vectors.map((vector) => [...vector])).toEqual([
      [2, DIMENSIONS, 1],
      [2, DIMENSIONS, 4],
    ]);
    expect(await failureOf(local.embed(["fail"]))).toMatchObject({ code: "model_failed" });
    await local.close?.();
    expect(local.use).toMatchObject({ calls: 1, texts: 2 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
