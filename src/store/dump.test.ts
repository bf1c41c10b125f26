import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/support/postgres.ts";
import { fillAll } from "./cases/dump.cases.ts";
import { verified } from "./cases/feed.cases.ts";
import { append, changesOf, dumpOf, message } from "./cases/fixture.cases.ts";
import { openPostgresStore } from "./postgres/open-postgres-store.ts";
import { openSqliteStore } from "./sqlite/open-sqlite-store.ts";
import type { Store } from "./store.ts";

test("a dump round-trips through the other backend byte for byte", async () => {
  const start = await opened(openSqliteStore(":memory:"));
  const { id } = await fillAll(start);
  const server = await opened(openPostgresStore(await createDatabase()));
  await server.load(start.dump());
  expect(await dumpOf(server)).toEqual(await dumpOf(start));

  await append(server, "a", id, message("on the server"));
  await fillAll(server, "c");
  const back = await opened(openSqliteStore(":memory:"));
  await back.load(server.dump());
  expect(await dumpOf(back)).toEqual(await dumpOf(server));
  await append(back, "a", id, message("at home again"));
  const { hash } = await back.feedHead("a");
  expect(verified(await changesOf(back, "a"))).toEqual(Buffer.from(hash));
});

async function opened(opening: Promise<Store>): Promise<Store> {
  const store = await opening;
  onTestFinished(() => store.close());
  return store;
}
