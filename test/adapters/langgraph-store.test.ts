/** The long-term store for LangGraph, held to its contract with LangGraph itself. */

import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { itemStore } from "../../src/adapters/langgraph/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  test("keeps items of a store, found by path, filter and text", async () => {
    const ours = itemStore(world.engine);
    const store: BaseStore = ours satisfies BaseStore;
    await store.put(["users", "a/na"], "food", { likes: "ripe mangos", rank: 2 });
    await store.put(["users", "a/na"], "city", { lives: "Lagos", rank: 3 });
    await store.put(["users", "bo"], "food", { likes: "mangos, too", rank: 1 });
    await store.put(["secrets"], "word", { is: "mangos" }, false);
    await store.put(["notes"], "n", { title: "mangos", body: "peaches" }, ["body"]);
    expect(await store.get(["users", "a/na"], "none")).toBeNull();
    const item = await store.get(["users", "a/na"], "food");
    expect(item).toMatchObject({ namespace: ["users", "a/na"], key: "food", value: { rank: 2 } });
    expect(item?.createdAt).toBeInstanceOf(Date);
    const keys = async (prefix: string[], options?: object) =>
      (await store.search(prefix, options)).map(({ namespace, key }) => [...namespace, key].join());
    expect(await keys(["users"])).toEqual(["users,a/na,city", "users,a/na,food", "users,bo,food"]);
    expect(await keys(["user"])).toEqual([]);
    expect(await keys(["users"], { limit: 1, offset: 1 })).toEqual(["users,a/na,food"]);
    expect(await keys(["users"], { filter: { rank: { $gte: 2 }, lives: "Lagos" } })).toHaveLength(
      1,
    );
    await expect(keys(["users"], { filter: { rank: { $near: 2 } } })).rejects.toThrow("$near");
    expect((await keys(["users"], { query: "mangos" })).sort()).toEqual([
      "users,a/na,food",
      "users,bo,food",
    ]);
    expect(await keys(["users", "bo"], { query: "mangos" })).toEqual(["users,bo,food"]);
    expect(await keys([], { query: "peaches" })).toEqual(["notes,n"]);
    expect(await store.listNamespaces()).toEqual([
      ["notes"],
      ["secrets"],
      ["users", "a/na"],
      ["users", "bo"],
    ]);
    expect(await store.listNamespaces({ prefix: ["users", "*"], suffix: ["bo"] })).toEqual([
      ["users", "bo"],
    ]);
    expect(await store.listNamespaces({ maxDepth: 1, offset: 1, limit: 5 })).toEqual([
      ["secrets"],
      ["users"],
    ]);
    const results = await store.batch([
      { namespace: ["users", "bo"], key: "food" },
      { namespace: ["users", "bo"], key: "food", value: { likes: "figs" } },
      { namespace: ["users", "none"], key: "x", value: null },
    ]);
    expect(results).toMatchObject([{ value: { likes: "mangos, too" } }, undefined, undefined]);
    expect((await store.get(["users", "bo"], "food"))?.value).toEqual({ likes: "figs" });
    await store.delete(["users", "bo"], "food");
    expect(await store.get(["users", "bo"], "food")).toBeNull();
    for (const wrong of [[], ["a.b"], [""], ["langgraph"]]) {
      await expect(store.put(wrong, "k", {})).rejects.toThrow("namespace must be a list");
    }
  });
});
