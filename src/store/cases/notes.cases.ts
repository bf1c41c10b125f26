import { describe, expect, test } from "vitest";
import type { NewFact } from "../records.ts";
import { type Cases, createSession, expectCode, feedOf, nextId, T0 } from "./fixture.cases.ts";

export function noteCases({ store, tenant }: Cases): void {
  describe("memories", () => {
    const put = (acme: string, agent: string, name: string, content: string, now = T0) =>
      store().putMemory(acme, { agent, name, content, metadata: { n: now - T0 }, now });

    test("are put, replaced, found and deleted", async () => {
      const acme = tenant();
      const first = await put(acme, "coder", "style", "tabs");
      expect(first).toEqual({
        agent: "coder",
        name: "style",
        content: "tabs",
        metadata: { n: 0 },
        createdAt: T0,
        updatedAt: T0,
      });
      const second = await put(acme, "coder", "style", "spaces", T0 + 5);
      expect(second).toMatchObject({ content: "spaces", createdAt: T0, updatedAt: T0 + 5 });
      const early = await put(acme, "coder", "style", "spaces!", T0 + 1);
      expect(early).toMatchObject({ content: "spaces!", updatedAt: T0 + 5 });
      expect(await store().findMemory(acme, "coder", "style")).toEqual(early);
      expect(await store().findMemory(acme, "other", "style")).toBeUndefined();
      await store().deleteMemory(acme, "coder", "style", T0);
      expect(await store().findMemory(acme, "coder", "style")).toBeUndefined();
      await expectCode(store().deleteMemory(acme, "coder", "style", T0), "memory_not_found");
      const which = { agent: "coder", name: "style" };
      expect(await feedOf(store(), acme)).toEqual([
        ["memory_put", which],
        ["memory_put", which],
        ["memory_put", which],
        ["memory_deleted", which],
      ]);
    });

    test("are listed by the bytes of agent and name, page by page", async () => {
      const acme = tenant();
      const names = [
        ["b", "a"],
        ["a", "ä"],
        ["a", "b"],
        ["a", "B"],
        ["B", "z"],
      ] as const;
      for (const [agent, name] of names) await put(acme, agent, name, "x");
      const list = async (
        agent?: string,
        after?: { agent: string; name: string },
        limit = 10,
      ): Promise<string[]> => {
        const found = await store().listMemories(acme, agent, after, limit);
        return found.map((memory) => `${memory.agent}/${memory.name}`);
      };
      expect(await list()).toEqual(["B/z", "a/B", "a/b", "a/ä", "b/a"]);
      expect(await list(undefined, undefined, 2)).toEqual(["B/z", "a/B"]);
      expect(await list(undefined, { agent: "a", name: "B" }, 2)).toEqual(["a/b", "a/ä"]);
      expect(await list("a", { agent: "a", name: "b" })).toEqual(["a/ä"]);
      expect(await list("none")).toEqual([]);
    });
  });

  describe("facts", () => {
    function fact(sessionId: string, over: Partial<NewFact> = {}): NewFact {
      return {
        id: nextId(),
        sessionId,
        subject: "cron",
        predicate: "runs",
        object: "twice",
        sourceEntry: null,
        confidence: 0.1 + 0.2,
        createdAt: T0,
        ...over,
      };
    }

    test("are added together, found and listed", async () => {
      const acme = tenant();
      const a = await createSession(store(), acme);
      const b = await createSession(store(), acme);
      const one = fact(a.id, { id: "f1", sourceEntry: nextId() });
      const two = fact(a.id, { id: "F2", confidence: 1 });
      const added = await store().addFacts(acme, a.id, [one, two], T0);
      expect(added).toEqual([
        { ...one, supersededBy: null },
        { ...two, supersededBy: null },
      ]);
      await store().addFacts(acme, b.id, [fact(b.id, { id: "f3" })], T0);
      expect(await store().findFact(acme, "f1")).toEqual({ ...one, supersededBy: null });
      const list = async (sessionId?: string, after?: string, limit = 10) => {
        const facts = await store().listFacts(acme, sessionId, after, limit, false);
        return facts.map((each) => each.id);
      };
      expect(await list()).toEqual(["F2", "f1", "f3"]);
      expect(await list(undefined, "F2", 1)).toEqual(["f1"]);
      expect(await list(a.id)).toEqual(["F2", "f1"]);
      expect(await list(a.id, "F2")).toEqual(["f1"]);
      await expectCode(list("none"), "session_not_found");
      await expectCode(store().addFacts(acme, "none", [fact("none")], T0), "session_not_found");
    });

    test("are superseded or deleted", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const [one, two, three] = [fact(id), fact(id), fact(id)];
      await store().addFacts(acme, id, [one, two, three], T0);
      await store().retireFact(acme, one.id, two.id, T0);
      await store().retireFact(acme, three.id, null, T0);
      expect(await store().findFact(acme, one.id)).toMatchObject({ supersededBy: two.id });
      expect(await store().findFact(acme, three.id)).toBeUndefined();
      const ids = async (superseded: boolean) =>
        (await store().listFacts(acme, id, undefined, 10, superseded)).map((each) => each.id);
      expect(await ids(false)).toEqual([two.id]);
      expect(await ids(true)).toEqual([one.id, two.id]);
      await expectCode(store().retireFact(acme, "none", null, T0), "fact_not_found");
      await expectCode(store().retireFact(acme, two.id, "none", T0), "fact_not_found", {
        factId: "none",
      });
      expect(await feedOf(store(), acme, 4)).toEqual([
        ["fact_superseded", { fact: one.id, by: two.id }],
        ["fact_deleted", { fact: three.id }],
      ]);
    });

    test("supersede others in the same transaction, also ones added with them", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const old = fact(id, { id: "old" });
      await store().addFacts(acme, id, [old], T0);
      const [one, two] = [fact(id, { id: "one" }), fact(id, { id: "two" })];
      const added = await store().addFacts(
        acme,
        id,
        [
          { ...one, supersedes: ["old"] },
          { ...two, supersedes: ["one"] },
        ],
        T0,
      );
      expect(added).toEqual([
        { ...one, supersededBy: "two" },
        { ...two, supersededBy: null },
      ]);
      expect(await store().listFacts(acme, id, undefined, 10, true)).toEqual([
        { ...old, supersededBy: "one" },
        ...added,
      ]);
      expect(await feedOf(store(), acme, 2)).toEqual([
        ["fact_added", { fact: "one" }],
        ["fact_superseded", { fact: "old", by: "one" }],
        ["fact_added", { fact: "two" }],
        ["fact_superseded", { fact: "one", by: "two" }],
      ]);
      const wrong = store().addFacts(acme, id, [{ ...fact(id), supersedes: ["none"] }], T0);
      await expectCode(wrong, "fact_not_found", { factId: "none" });
      expect(await store().listFacts(acme, id, undefined, 10, true)).toHaveLength(3);
    });

    test("are added all or none", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const twice = fact(id);
      await expect(store().addFacts(acme, id, [fact(id), twice, twice], T0)).rejects.toThrow();
      expect(await store().listFacts(acme, id, undefined, 10, true)).toEqual([]);
    });
  });
}
