import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, query } from "../../../test/support/postgres.ts";
import { append, createSession, message } from "../cases/fixture.cases.ts";
import { answerTo, expectAgreement, holdAt } from "../cases/index-fixture.cases.ts";
import { TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

let address: string;

beforeAll(async () => {
  address = await createDatabase();
});

async function open(): Promise<Store> {
  const indexing = { module: TRIVIAL_INDEX, flushAt: 0 };
  const store = await openPostgresStore(address, { indexing });
  onTestFinished(() => store.close());
  return store;
}

async function fill(store: Store, tenant: string): Promise<void> {
  const { id } = await createSession(store, tenant);
  await append(store, tenant, id, message("one"), message("two"), message("three"));
}

test("a node with an old manifest reads its segments during their grace period", async () => {
  const [node, other] = [await open(), await open()];
  await fill(node, "old");
  await node.maintain("old", "flush");
  await fill(node, "old");
  await node.maintain("old", "flush");
  const { segments } = await answerTo(node, "old", { need: "manifest" });
  await other.maintain("old", "merge");
  await other.maintain("old", "maintain");
  const keys = segments.map(({ segment }) => ({ segment, blob: 0 }));
  for (const blob of await answerTo(node, "old", { need: "blobs", keys })) {
    expect(blob).toBeInstanceOf(Uint8Array);
  }
  // After the grace period they are deleted, and reads report them as missing.
  await query(address, "UPDATE index_segments SET dropped_at = dropped_at - 600001");
  await other.maintain("old", "maintain");
  expect(await answerTo(node, "old", { need: "blobs", keys })).toEqual(["missing", "missing"]);
  await expectAgreement(node, "old");
});

test("a swap with a stale fencing token is refused", async () => {
  const store = await open();
  await fill(store, "lease");
  const report = await holdAt(
    "written",
    () => store.maintain("lease", "flush"),
    async () => {
      await query(address, "UPDATE index_manifest SET epoch = epoch + 1");
    },
  );
  expect(report.busy).toBe(true);
  expect((await store.indexStatus("lease")).segments).toBe(0);
  await expectAgreement(store, "lease");
});

test("a damaged blob is reported, and its segment is rebuilt", async () => {
  const store = await open();
  await fill(store, "damage");
  await store.maintain("damage", "flush");
  await query(address, "UPDATE index_blobs SET bytes = set_byte(bytes, 5, 0)");
  const [info] = (await answerTo(store, "damage", { need: "manifest" })).segments;
  const keys = [{ segment: info?.segment ?? 0, blob: 0 }];
  expect(await answerTo(store, "damage", { need: "blobs", keys })).toEqual(["damaged"]);
  await store.maintain("damage", "maintain");
  await expectAgreement(store, "damage");
});

test("blobs are stored uncompressed, and vacuumed early", async () => {
  await open();
  const [row] = await query(
    address,
    `SELECT a.attstorage AS storage, c.reloptions::text AS options, c.relforcerowsecurity AS secure
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bytes'
      WHERE c.relname = 'index_blobs'`,
  );
  expect(row).toMatchObject({ storage: "e", secure: true });
  expect(row?.["options"]).toContain("autovacuum_vacuum_scale_factor");
});
