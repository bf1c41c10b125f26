import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { isStress } from "../../../test/support/repeats.ts";
import { startTransactionPooler } from "../../../test/support/transaction-pooler.ts";
import { changeSignalCases } from "../cases/change-signal.cases.ts";
import { concurrencyCases } from "../cases/concurrency.cases.ts";
import { dumpCases } from "../cases/dump.cases.ts";
import type { OpenedStore } from "../cases/fixture.cases.ts";
import { append, changesOf, createSession, message } from "../cases/fixture.cases.ts";
import { TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import { ALL_CASES, storeCases } from "../store.cases.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

const INDEXING = { module: TRIVIAL_INDEX, flushAt: 0 };

test("behind a pooler in transaction mode no call depends on session state", async () => {
  const direct = await createDatabase();
  const pooler = await startTransactionPooler(direct);
  onTestFinished(() => pooler[Symbol.asyncDispose]());
  const nodes = await Promise.all(
    [0, 1].map(() =>
      openPostgresStore(pooler.address, {
        notify: "poll",
        durability: "process",
        indexing: INDEXING,
      }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error("two nodes");
  const { id } = await createSession(first, "a");
  let calls = 0;
  second.onChange(() => calls++);
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      append(i % 2 === 0 ? first : second, "a", id, message(`message ${i}`)),
    ),
  );
  const before = calls;
  await append(first, "a", id, message("for the other node"));
  await expect.poll(() => calls).toBeGreaterThan(before);
  const positions = (await changesOf(second, "a")).map(({ position }) => position);
  expect(positions).toEqual(Array.from({ length: 42 }, (_, i) => i + 1));
  expect(pooler.switches).toBeGreaterThan(100);
});

test("a listener with its own address receives changes written through the pooler", async () => {
  const direct = await createDatabase();
  const pooler = await startTransactionPooler(direct);
  onTestFinished(() => pooler[Symbol.asyncDispose]());
  const options = { indexing: INDEXING, notify: direct };
  const writer = await openPostgresStore(pooler.address, { indexing: INDEXING, notify: "poll" });
  const listener = await openPostgresStore(pooler.address, options);
  onTestFinished(async () => {
    await writer.close();
    await listener.close();
  });
  let calls = 0;
  listener.onChange(() => calls++);
  const { id } = await createSession(writer, "a");
  await append(writer, "a", id, message("hello"));
  await expect.poll(() => calls).toBeGreaterThan(0);
});

storeCases(
  "PostgreSQL, behind a pooler in transaction mode",
  openPooled,
  isStress ? ALL_CASES : [concurrencyCases, dumpCases, changeSignalCases],
);

async function openPooled(): Promise<OpenedStore> {
  const pooler = await startTransactionPooler(await createDatabase());
  const options = { indexing: INDEXING, notify: "poll" };
  return {
    store: await openPostgresStore(pooler.address, options),
    reopen: (others) => openPostgresStore(pooler.address, { ...options, ...others }),
  };
}
