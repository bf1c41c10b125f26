import { createDatabase, createIcuDatabase } from "../../../test/support/postgres.ts";
import type { OpenedStore } from "../cases/fixture.cases.ts";
import { storeCases } from "../store.cases.ts";
import { openPostgresStore } from "./postgres-store.ts";

storeCases("PostgreSQL", () => open(createDatabase()));
storeCases("PostgreSQL, in a database that sorts by language", () => open(createIcuDatabase()));

async function open(database: Promise<string>): Promise<OpenedStore> {
  const address = await database;
  return {
    store: await openPostgresStore(address),
    reopen: (options) => openPostgresStore(address, options),
  };
}
