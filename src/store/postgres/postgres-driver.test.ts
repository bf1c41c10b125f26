import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { startProxy } from "../../../test/support/postgres-proxy.ts";
import { FIRST_ANSWER_MS, PostgresPool } from "./postgres-driver.ts";

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => void vi.useRealTimers());

/** A connection that a pool has used before, and the proxy behind which it is. */
async function takeConnection() {
  const proxy = await startProxy(await createDatabase());
  const pool = new PostgresPool(proxy.address, { maxQueue: 10, connectTimeoutMs: 600_000 });
  const before = await pool.take();
  await before.all("SELECT 1");
  before.giveBack();
  const connection = await pool.take();
  onTestFinished(async () => {
    connection.giveBack();
    pool.cut();
    await pool.close();
    await proxy[Symbol.asyncDispose]();
  });
  return { connection, proxy };
}

test("a pooler that has no server for a statement does not keep its caller waiting", async () => {
  const { connection, proxy } = await takeConnection();
  proxy.freeze();
  const rejected = expect(connection.all("SELECT 1")).rejects.toMatchObject({
    code: "store_unavailable",
    details: { timeoutMs: FIRST_ANSWER_MS },
  });
  vi.advanceTimersByTime(FIRST_ANSWER_MS);
  await rejected;
});

test("a statement after the first answer may take longer", async () => {
  const { connection } = await takeConnection();
  await connection.all("SELECT 1");
  const slow = connection.all("SELECT pg_sleep(0.1) IS NULL AS slept");
  vi.advanceTimersByTime(2 * FIRST_ANSWER_MS);
  expect(await slow).toEqual([{ slept: false }]);
});
