import { describe, expect, test } from "vitest";
import type { SearchAnswer, SearchRequest } from "../../search/request.ts";
import { DEFAULT_PROFILE } from "../../search/score/profile.ts";
import type { Store } from "../store.ts";
import { append, type Cases, createSession, message, T0 } from "./fixture.cases.ts";

/** The real index on a store. `src/search` tests hits and ranking. */
export function searchCases({ fresh }: Cases): void {
  describe("a search", () => {
    test("finds the same before and after maintenance, and omits deleted sessions", async () => {
      const { reopen } = await fresh();
      if (reopen === undefined) return;
      const store = await reopen({ indexing: { flushAt: 0 } });
      const one = await createSession(store, "a", { title: "Deploying" });
      const large = `${"filler ".repeat(2_000)} zebra`;
      const { ids } = await append(store, "a", one.id, message("The zebra ran"), message(large));
      const two = await createSession(store, "a");
      await append(store, "a", two.id, message("Another zebra"), message("nothing"));
      for (let i = 0; i < 40; i++) await append(store, "a", two.id, message(`other words ${i}`));

      const fromFeed = await search(store, "zebra");
      expect(entriesOf(fromFeed)).toEqual(expect.arrayContaining([ids[0]]));
      expect(fromFeed).toMatchObject({ degraded: false, unreadable: [], lag: 46 });
      expect(await store.maintain("a", "flush")).toMatchObject({ busy: false, more: false });
      const fromSegment = await search(store, "zebra");
      expect(fromSegment.hits).toEqual(fromFeed.hits);
      expect(fromSegment).toMatchObject({ degraded: false, unreadable: [], lag: 0 });

      await append(store, "a", one.id, message("a zebra, again"));
      expect(entriesOf(await search(store, "zebra"))).toHaveLength(entriesOf(fromFeed).length + 1);
      await store.maintain("a", "flush");
      await store.deleteSession("a", one.id, "user", T0);
      const left = await search(store, "zebra");
      expect(left.hits.map(({ sessionId }) => sessionId)).toEqual([two.id]);
      await store.maintain("a", "purge");
      expect((await search(store, "zebra")).hits).toEqual(left.hits);
      expect(await search(store, "zebra", "b")).toMatchObject({ hits: [] });
      await store.close();
    });

    test("is correct under concurrent searches and writes", async () => {
      const { reopen } = await fresh();
      if (reopen === undefined) return;
      const store = await reopen({ indexing: { flushAt: 30 } });
      const { id } = await createSession(store, "a");
      for (let i = 0; i < 10; i++) {
        const batch = Array.from({ length: 10 }, (_, k) => message(`needle ${i} ${k}`));
        const searches = Array.from({ length: 4 }, () => search(store, "needle"));
        const [answers] = await Promise.all([
          Promise.all(searches),
          append(store, "a", id, ...batch),
        ]);
        for (const { explanation } of answers) expect(explanation?.documents).toBeLessThan(101);
        const { explanation } = await search(store, "needle");
        expect(explanation?.documents).toBe(10 * (i + 1));
      }
      await store.close();
    });
  });
}

export function search(store: Store, query: string, tenant = "a"): Promise<SearchAnswer> {
  const request: SearchRequest = {
    query,
    match: "any",
    now: T0,
    limit: 20,
    perSession: 20,
    before: 1,
    after: 1,
    scope: {},
    branches: "active",
    profile: DEFAULT_PROFILE,
    deadlineMs: 10_000,
    explain: true,
  };
  return store.search(tenant, request);
}

function entriesOf(answer: SearchAnswer): (string | null)[] {
  return answer.hits.map(({ entryId }) => entryId);
}
