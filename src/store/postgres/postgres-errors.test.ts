import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  connect,
  createDatabase,
  createEmptyDatabase,
  query,
  withAddress,
} from "../../../test/support/postgres.ts";
import { append, createSession, expectCode, message, T0 } from "../cases/fixture.cases.ts";
import type { Store, StoreOptions } from "../store.ts";
import { BinaryCopy } from "./binary-copy.ts";
import { openPostgresStore } from "./open-postgres-store.ts";
import { translatePostgresError } from "./postgres-errors.ts";

describe("errors of the server", () => {
  let address: string;

  beforeAll(async () => {
    address = await createDatabase();
    await (await openPostgresStore(address)).close();
    // A memory named like a SQLSTATE makes the server raise it, `times` times.
    await query(address, "CREATE SEQUENCE attempts");
    await query(
      address,
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('attempts') <= NEW.agent::int THEN
            RAISE EXCEPTION 'raised by the test' USING ERRCODE = NEW.name;
          END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER fail BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION fail()`,
    );
  });

  async function open(options: StoreOptions = {}): Promise<Store> {
    const store = await openPostgresStore(address, options);
    onTestFinished(() => store.close());
    return store;
  }

  async function raise(store: Store, sqlstate: string, times: number): Promise<unknown> {
    await query(address, "ALTER SEQUENCE attempts RESTART");
    const note = { agent: String(times), name: sqlstate, content: "", metadata: {}, now: T0 };
    return store.putMemory("a", note);
  }

  test("a failed COPY is reported, whatever options the address sets in the driver", async () => {
    const client = new pg.Client(
      withAddress(address, (url) => url.searchParams.set("query_timeout", "10000")),
    );
    await client.connect();
    onTestFinished(() => client.end());
    const failing = (sql: string) =>
      new Promise((resolve) => client.query(new BinaryCopy(sql, { n: "number" }, resolve)));
    const failure = await failing("COPY (SELECT 1::bigint / 0) TO STDOUT (FORMAT binary)");
    expect(failure).toMatchObject({ message: "division by zero" });
    expect(
      await failing("COPY (SELECT 1::bigint WHERE false) TO STDOUT (FORMAT binary)"),
    ).toBeNull();
  });

  test.each([
    ["53100", "store_full"],
    ["25006", "store_read_only"],
    ["53300", "store_busy"],
    ["57014", "store_busy"],
    ["57P01", "store_unavailable"],
    ["42501", "store_unavailable"],
    ["XX001", "store_corrupt"],
    ["40001", "store_busy"],
  ] as const)("SQLSTATE %s becomes %s, and writes nothing", async (sqlstate, code) => {
    const store = await open();
    await createSession(store, "a");
    const before = await store.feedHead("a");
    await expectCode(raise(store, sqlstate, 99) as Promise<unknown>, code, { sqlstate });
    expect(await store.feedHead("a")).toEqual(before);
    expect(await store.findMemory("a", "99", sqlstate)).toBeUndefined();
  });

  test.each(["40001", "40P01"])("SQLSTATE %s is retried until it succeeds", async (sqlstate) => {
    const store = await open();
    await expect(raise(store, sqlstate, 3)).resolves.toMatchObject({ name: sqlstate });
    expect(await query(address, "SELECT last_value::int AS n FROM attempts")).toEqual([{ n: 4 }]);
  });

  test("of a failed pipeline the first error passes unchanged, if it is unknown", async () => {
    const store = await open();
    const { id } = await createSession(store, "a");
    const twice = message("twice");
    await append(store, "a", id, twice);
    await expect(append(store, "a", id, twice)).rejects.toMatchObject({ code: "23505" });
    await append(store, "a", id, message("the connection is fine"));
  });

  test.each(["entries_pkey", "changes_7_pkey"])(
    "a duplicate of a number that the store assigns is damage: %s",
    (constraint) => {
      const error = Object.assign(new Error("duplicate key"), { code: "23505", constraint });
      expect(translatePostgresError(error, "here")).toMatchObject({ code: "store_corrupt" });
    },
  );

  test("a transaction whose payload a concurrent sweep deletes is retried", async () => {
    await query(
      address,
      `CREATE FUNCTION take_away() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('attempts') = 1 THEN DELETE FROM blobs WHERE hash = NEW.hash; END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER take_away BEFORE INSERT ON entry_blobs
        FOR EACH ROW EXECUTE FUNCTION take_away()`,
    );
    const store = await open();
    const { id } = await createSession(store, "a");
    await query(address, "ALTER SEQUENCE attempts RESTART");
    const large = message("large ".repeat(3_000));
    await append(store, "a", id, large);
    const page = await store.findEntries("a", [large.id], true);
    expect(page.payloads.size).toBe(1);
    expect((await store.findSession("a", id))?.entryCount).toBe(1);
  });

  test("a lock timeout is store_busy", async () => {
    const store = await open({ busyTimeoutMs: 100 });
    const { id } = await createSession(store, "a");
    const client = await connect(address);
    await client.query("BEGIN; SELECT 1 FROM session_state FOR UPDATE");
    await expectCode(append(store, "a", id, message("x")), "store_busy", { sqlstate: "55P03" });
    await client.query("ROLLBACK");
    await client.end();
    await append(store, "a", id, message("x"));
  });

  test("back-pressure: calls beyond maxQueue are refused, the others succeed", async () => {
    // The index reads its lag on a connection of the same pool.
    const store = await open({ maxQueue: 3, indexing: { flushAt: 0 } });
    const { id } = await createSession(store, "a");
    const calls = Array.from({ length: 40 }, () => append(store, "a", id, message("x")));
    const outcomes = await Promise.allSettled(calls);
    const codes = outcomes.map((o) => (o.status === "fulfilled" ? "done" : o.reason.code));
    expect(new Set(codes)).toEqual(new Set(["done", "store_busy"]));
    const done = codes.filter((code) => code === "done").length;
    expect(done).toBeGreaterThanOrEqual(13);
    expect((await store.findSession("a", id))?.entryCount).toBe(done);
  });
});

describe("a server that cannot be used", () => {
  const open = (address: string) => openPostgresStore(address);

  test("is reported with a remedy, never with the password", async () => {
    const address = await createEmptyDatabase();
    const secret = "s3cr3t";
    const change = (over: (url: URL) => void) =>
      withAddress(address, (url) => {
        url.password = secret;
        over(url);
      });
    const cases = [
      [change((url) => (url.port = "1")), "store_unavailable", /check host and port/],
      [change(() => undefined), "store_unavailable", /user or password/],
      [withAddress(address, (url) => (url.pathname = "/none")), "store_not_found", /createdb/],
    ] as const;
    for (const [bad, code, message] of cases) {
      const error = await open(bad).catch((reason: unknown) => reason as Error);
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
      expect(JSON.stringify(error) + (error as Error).message).not.toContain(secret);
    }
    await expectCode(open("postgres://user:p%ss@host:port/x"), "invalid_address");
  });

  test("that is read-only is reported as such", async () => {
    const address = await createEmptyDatabase();
    const first = await open(address);
    const { id } = await createSession(first, "a");
    await first.close();
    const { pathname } = new URL(address);
    const database = pathname.slice(1);
    await query(address, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    const store = await open(address);
    onTestFinished(() => store.close());
    expect(await store.findSession("a", id)).toBeDefined();
    await expectCode(append(store, "a", id, message("x")), "store_read_only");
  });
});
