import { createDatabase, createIcuDatabase } from "../../../test/support/postgres.ts";
import { isStress } from "../../../test/support/repeats.ts";
import type { OpenedStore } from "../cases/fixture.cases.ts";
import { TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import { ALL_CASES, SORTING_CASES, storeCases } from "../store.cases.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

/** The cases run maintenance themselves. */
const INDEXING = { module: TRIVIAL_INDEX, flushAt: 0 };

storeCases("PostgreSQL", () => open(createDatabase()));
storeCases(
  "PostgreSQL, in a database that sorts by language",
  () => open(createIcuDatabase()),
  isStress ? ALL_CASES : SORTING_CASES,
);

async function open(database: Promise<string>): Promise<OpenedStore> {
  const address = await database;
  return {
    store: await openPostgresStore(address, { indexing: INDEXING }),
    reopen: (options) => openPostgresStore(address, { indexing: INDEXING, ...options }),
  };
}
