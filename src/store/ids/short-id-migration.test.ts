import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { connect, createEmptyDatabase } from "../../../test/support/postgres.ts";
import { newSession } from "../cases/fixture.cases.ts";
import { originOf } from "../cases/short-ids.cases.ts";
import { openPostgresStore } from "../postgres/open-postgres-store.ts";
import { openSqliteStore } from "../sqlite/open-sqlite-store.ts";
import type { Store } from "../store.ts";

/** What a store was before the migration. */
const BACK = `DROP TABLE session_models; DROP TABLE records; DROP TABLE originals; DROP TABLE original_parts; DROP TABLE original_sessions;
  DROP INDEX sessions_by_short_id; DROP INDEX sessions_by_own_id;
  ALTER TABLE sessions DROP COLUMN short_id; ALTER TABLE sessions DROP COLUMN own_id;
  DELETE FROM schema WHERE version >= 12`;

async function fill(store: Store): Promise<void> {
  const add = (id: string, tenant: string, own?: string, project?: string) =>
    store.createSession(
      tenant,
      newSession({ id, ...(own === undefined ? {} : { origin: originOf(own, project) }) }),
    );
  await add("one", "a", "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c");
  await add("two", "a", "0f3c9a12-77ab-4e0b-9c55-1d2e3f4a5b6c");
  await add("three", "a", "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c", "q");
  await add("other", "b", "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c");
  await add("01JZ8Q4V7N0000000000ABCDEF", "a");
  await add("my-own-id", "a");
}

async function shortIds(store: Store): Promise<Record<string, string>> {
  const lists = await Promise.all(
    ["a", "b"].map((each) => store.listSessions(each, {}, { limit: 9 })),
  );
  const sessions = lists.flatMap((list) => list.sessions);
  return Object.fromEntries(sessions.map(({ id, shortId }) => [id, shortId]));
}

const FILLED = {
  one: "0f3c9a12",
  two: "0f3c9a12-7",
  three: "0f3c9a12-77aa",
  other: "0f3c9a12",
  "01JZ8Q4V7N0000000000ABCDEF": "00abcdef",
  "my-own-id": "my-own-id",
};

test("stored sessions get short ids: SQLite", async () => {
  const path = `${createFolder()}/old.db`;
  const before = await openSqliteStore(path, { inThread: true });
  await fill(before);
  await before.close();
  const db = new DatabaseSync(path);
  db.exec(`DROP TRIGGER entries_have_models; DROP TRIGGER entries_lose_models;
    DROP TRIGGER sessions_had_models; ${BACK}`);
  db.close();
  const store = await openSqliteStore(path, { inThread: true });
  expect(await shortIds(store)).toEqual(FILLED);
  await store.close();
});

test("stored sessions get short ids: PostgreSQL", async () => {
  const address = await createEmptyDatabase();
  const before = await openPostgresStore(address);
  await fill(before);
  await before.close();
  const client = await connect(address);
  await client.query(
    "DROP FUNCTION backscroll_add_models, backscroll_lose_model, backscroll_drop_models CASCADE",
  );
  await client.query(BACK);
  await client.end();
  const store = await openPostgresStore(address);
  expect(await shortIds(store)).toEqual(FILLED);
  await store.close();
});
