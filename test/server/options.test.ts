/** Options with parts over REST, and their errors. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

async function ask(path: string, body: object) {
  const response = await fetch(world.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${world.tokens.reader}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  const json = (await response.json()) as Record<string, unknown>;
  return { status: response.status, json };
}

describe("the ranking", () => {
  const search = (ranking: unknown) =>
    ask("/v1/search", { query: "quizzaciously", explain: true, ranking });

  test("accepts a name, weights and groups", async () => {
    const scoreOf = async (ranking: unknown) => {
      const { status, json } = await search(ranking);
      expect(status).toBe(200);
      return (json["hits"] as { score: number }[])[0]?.score ?? 0;
    };
    const plain = await scoreOf({});
    expect(await scoreOf("default")).toBe(plain);
    expect(await scoreOf({ roles: { user: 12, assistant: 12 } })).toBeGreaterThan(plain);
    expect(await scoreOf({ bm25: { k1: 0 }, passage: { k1: 0 } })).not.toBe(plain);
  });

  test.each([
    [{ titel: 2 }, "ranking.titel"],
    [{ roles: { robot: 1 } }, "ranking.roles.robot"],
    [{ roles: 2 }, "ranking.roles"],
    [{ title: -1 }, "ranking.title"],
    [{ title: "2" }, "ranking.title"],
    [{ bm25: { k1: null } }, "ranking.bm25.k1"],
  ])("%j is refused, naming %s", async (ranking, field) => {
    expect(await search(ranking)).toMatchObject({
      status: 400,
      json: { code: "invalid_input", details: { field } },
    });
  });

  test("bounds the number of re-ranked sessions", async () => {
    expect(await search({ candidates: 10_001 })).toMatchObject({
      json: { code: "too_large", details: { field: "ranking.candidates", limit: 10_000 } },
    });
  });
});

describe("the pruning of a context", () => {
  const build = (prune: unknown) =>
    ask(`/v1/sessions/${world.ids["session"]}/context`, { token_budget: 4_000, prune });

  test("is accepted", async () => {
    const limits = { trim_ratio: 0.1, protected_assistants: 0 };
    expect(await build({ window_tokens: 10, limits, tools: { deny: ["*"] } })).toMatchObject({
      status: 200,
      json: { messages: expect.any(Array) },
    });
  });

  test.each([
    [{}, "prune.window_tokens"],
    [{ window_tokens: 0 }, "prune.window_tokens"],
    [{ window_tokens: 9, limits: { trimRatio: 1 } }, "prune.limits.trimRatio"],
    [{ window_tokens: 9, limits: { trim_above: -1 } }, "prune.limits.trim_above"],
    [{ window_tokens: 9, tools: { allow: "ls" } }, "prune.tools.allow"],
  ])("%j is refused, naming %s", async (prune, field) => {
    expect(await build(prune)).toMatchObject({
      status: 400,
      json: { code: "invalid_input", details: { field } },
    });
  });
});
