/**
 * The conformance suite of backends.
 *
 * A backend calls `storeCases` in its own test file. All cases work through the port, on a real
 * database; no backend skips a case.
 */

import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { appendCases } from "./cases/append.cases.ts";
import { changeSignalCases } from "./cases/change-signal.cases.ts";
import { compactionCases } from "./cases/compaction.cases.ts";
import { concurrencyCases } from "./cases/concurrency.cases.ts";
import { contentCases } from "./cases/content.cases.ts";
import { deleteCases } from "./cases/delete.cases.ts";
import { dumpCases } from "./cases/dump.cases.ts";
import { eraseCases } from "./cases/erase.cases.ts";
import { feedCases } from "./cases/feed.cases.ts";
import { type Cases, nextId, type OpenedStore } from "./cases/fixture.cases.ts";
import { forkCases } from "./cases/fork.cases.ts";
import { guardedAppendCases } from "./cases/guarded-append.cases.ts";
import { historyCases } from "./cases/history.cases.ts";
import { indexCases } from "./cases/index.cases.ts";
import { indexAsksCases } from "./cases/index-asks.cases.ts";
import { indexNeedsCases } from "./cases/index-needs.cases.ts";
import { indexerCases } from "./cases/indexer.cases.ts";
import { ingestCases } from "./cases/ingest.cases.ts";
import { isolationCases } from "./cases/isolation.cases.ts";
import { leafCases } from "./cases/leaf.cases.ts";
import { leaseCases } from "./cases/leases.cases.ts";
import { listSessionsCases } from "./cases/list-sessions.cases.ts";
import { noteCases } from "./cases/notes.cases.ts";
import { pathCases } from "./cases/paths.cases.ts";
import { quotaCases } from "./cases/quota.cases.ts";
import { recordCases } from "./cases/records.cases.ts";
import { routeCases } from "./cases/routes.cases.ts";
import { searchCases } from "./cases/search.cases.ts";
import { sessionCases } from "./cases/sessions.cases.ts";
import { shortIdCases } from "./cases/short-ids.cases.ts";
import { streamCases } from "./cases/streams.cases.ts";
import { tokenCases } from "./cases/tokens.cases.ts";

type RegisterCases = (cases: Cases) => void;

export const ALL_CASES: readonly RegisterCases[] = [
  sessionCases,
  shortIdCases,
  listSessionsCases,
  appendCases,
  guardedAppendCases,
  pathCases,
  leafCases,
  forkCases,
  streamCases,
  noteCases,
  recordCases,
  compactionCases,
  contentCases,
  feedCases,
  quotaCases,
  deleteCases,
  eraseCases,
  historyCases,
  indexNeedsCases,
  indexAsksCases,
  indexCases,
  indexerCases,
  searchCases,
  ingestCases,
  tokenCases,
  leaseCases,
  routeCases,
  isolationCases,
  dumpCases,
  concurrencyCases,
  changeSignalCases,
];

/** Cases that depend on the database's collation. */
export const SORTING_CASES: readonly RegisterCases[] = [
  sessionCases,
  listSessionsCases,
  noteCases,
  recordCases,
  indexNeedsCases,
  indexAsksCases,
  ingestCases,
  tokenCases,
  routeCases,
  isolationCases,
];

/** Cases in which several stores, or a store and its maintenance, interleave. */
export const TURN_CASES: readonly RegisterCases[] = [
  indexerCases,
  searchCases,
  dumpCases,
  concurrencyCases,
  changeSignalCases,
];

/** Cases whose messages between threads cover every kind of value: bytes, text, numbers, error details. */
export const MESSAGE_CASES: readonly RegisterCases[] = [
  appendCases,
  guardedAppendCases,
  contentCases,
  tokenCases,
];

/** Registers the cases for one backend. `open` gives a new, empty store each time. */
export function storeCases(
  name: string,
  open: () => Promise<OpenedStore>,
  which: readonly RegisterCases[] = ALL_CASES,
): void {
  describe(name, () => {
    let shared: OpenedStore;
    beforeAll(async () => {
      shared = await open();
    });
    afterAll(() => shared.store.close());

    const cases: Cases = {
      store: () => shared.store,
      tenant: () => `tenant-${nextId()}`,
      async fresh() {
        const opened = await open();
        onTestFinished(() => opened.store.close());
        return opened;
      },
      async another() {
        if (shared.reopen === undefined) return shared.store;
        const store = await shared.reopen();
        onTestFinished(() => store.close());
        return store;
      },
    };
    for (const register of which) register(cases);
  });
}
