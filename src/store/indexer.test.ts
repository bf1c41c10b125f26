import { expect, test } from "vitest";
import type { MaintenanceReport } from "../search/port.ts";
import { FLUSH_BYTES, Indexer, type IndexerStore } from "./indexer.ts";

test("bytes written while the lag is first read are flushed without a further write", async () => {
  const { promise: lag, resolve: tellLag } = Promise.withResolvers<number>();
  let flushes = 0;
  const done: MaintenanceReport = { busy: false, documents: 1, through: 1, head: 1, more: false };
  const store: IndexerStore = {
    maintenance: () => Promise.resolve(done),
    flush: () => {
      flushes++;
      return Promise.resolve(done);
    },
    lag: () => lag,
    stop: () => Promise.resolve(),
  };
  const indexer = new Indexer(store, { flushAt: 1_000, shortLived: false });
  for (let i = 0; i < 2; i++) expect(indexer.wrote("a", 1, FLUSH_BYTES)).toBeUndefined();
  expect(flushes).toBe(0);
  tellLag(2);
  await expect.poll(() => flushes).toBeGreaterThan(0);
  await indexer.close();
});
