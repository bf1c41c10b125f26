import { describe, expect, test } from "vitest";
import type { SuiteIndexing } from "../index/indexing-options.ts";
import type { Store } from "../store.ts";
import { append, type Cases, createSession, message } from "./fixture.cases.ts";
import { expectAgreement } from "./index-fixture.cases.ts";
import { repeats } from "./repeats.cases.ts";
import { TRIVIAL_INDEX } from "./trivial-index.cases.ts";

const FLUSH_AT = 20;

const FAILING = `data:text/javascript,export const indexCode = {
  createCache() {}, *search() { return {} }, *maintain() { throw new Error("out of order") } }`;

export function indexerCases({ fresh }: Cases): void {
  describe("the background indexer", () => {
    /** A separate store with automatic indexing; undefined in memory. */
    async function keeping(options: SuiteIndexing = {}): Promise<Store | undefined> {
      const { reopen } = await fresh();
      return reopen?.({ indexing: { module: TRIVIAL_INDEX, flushAt: FLUSH_AT, ...options } });
    }

    test("flushes a writer's tail", async () => {
      const store = await keeping();
      if (store === undefined) return;
      const { id } = await createSession(store, "a");
      await createSession(store, "b");
      for (let i = 0; i < 3 * FLUSH_AT; i++) await append(store, "a", id, message(`${i}`));
      const lag = async () => (await store.indexStatus("a")).lag;
      await expect.poll(lag).toBeLessThan(FLUSH_AT);
      expect((await store.indexStatus("a")).segments).toBeGreaterThan(0);
      // A tenant with few changes is not indexed.
      expect(await store.indexStatus("b")).toMatchObject({ lag: 1, segments: 0 });
      await expectAgreement(store, "a");
      await store.close();
    });

    test("bounds the tail by back-pressure on writers", async () => {
      const store = await keeping();
      if (store === undefined) return;
      const { id } = await createSession(store, "a");
      let most = 0;
      for (let i = 0; i < 40; i++) {
        const batch = Array.from({ length: FLUSH_AT / 2 }, (_, k) => message(`${i} ${k}`));
        await append(store, "a", id, ...batch);
        most = Math.max(most, (await store.indexStatus("a")).lag);
      }
      expect(most).toBeLessThanOrEqual(11 * FLUSH_AT);
      await store.close();
    });

    test("releases its lease when the store closes at any moment", async () => {
      const { store, reopen } = await fresh();
      if (reopen === undefined) return;
      const { id } = await createSession(store, "a");
      for (let i = 0; i < repeats(2, 4); i++) {
        const indexing = { module: TRIVIAL_INDEX, flushAt: FLUSH_AT };
        const closed = await reopen({ indexing });
        const batch = Array.from({ length: 2 * FLUSH_AT }, (_, k) => message(`${i} ${k}`));
        await append(closed, "a", id, ...batch);
        await append(closed, "a", id, message("and one"));
        await closed.close();
        await expectAgreement(store, "a");
        expect((await store.indexStatus("a")).holder).toBeNull();
      }
    });

    test("reports its failure, and fails no write", async () => {
      const store = await keeping({ module: FAILING });
      if (store === undefined) return;
      const { id } = await createSession(store, "a");
      for (let i = 0; i < 5 * FLUSH_AT; i++) await append(store, "a", id, message(`${i}`));
      const failure = async () => (await store.indexStatus("a")).failure;
      await expect.poll(failure).toBe("out of order");
      await append(store, "a", id, message("one more"));
      expect((await store.findSession("a", id))?.messageCount).toBe(5 * FLUSH_AT + 1);
      await store.close();
    });
  });
}
