import { randomFillSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { connect, type RemoteEngine } from "../../client/index.ts";
import { type Engine, open } from "../../index.ts";
import { MAX_RECORD_BYTES } from "../../model/limits.ts";
import { openServer } from "../../server/index.ts";
import type { RecordsApi } from "./records.ts";

/** The same calls on a local store, and over the network. */
describe.each(["sqlite", "postgres", "client"] as const)("records on %s", (where) => {
  let now = Date.UTC(2026, 0, 1);
  let engine: Engine;
  let remote: RemoteEngine | undefined;
  let stop: (() => Promise<void>) | undefined;
  let records: RecordsApi;

  beforeAll(async () => {
    const address = where === "postgres" ? await createDatabase() : ":memory:";
    const random = (bytes: Uint8Array) => void randomFillSync(bytes);
    engine = await open(address, { source: { now: () => now, random } });
    records = engine.records;
    if (where !== "client") return;
    const server = await openServer(engine, { version: "0.0.0", port: 0 });
    stop = () => server.stop(100);
    remote = await connect(server.url);
    records = remote.records;
  });
  afterAll(async () => {
    await remote?.close();
    await stop?.();
    await engine.close();
  });

  test("store JSON and bytes unchanged", async () => {
    const values = [null, 0, "", "\u0000\ud800", [1, [2]], { "a b": { c: null } }, false];
    for (const [i, value] of values.entries()) {
      const info = await records.put({ namespace: "json", key: `k/${i}`, value });
      expect(info).toMatchObject({
        namespace: "json",
        key: `k/${i}`,
        type: "json",
        indexed: false,
      });
      expect(await records.get("json", `k/${i}`)).toEqual({ ...info, text: null, value });
    }
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251);
    await records.put({ namespace: "bytes", key: "\u{1F600} .", value: bytes, text: "said" });
    const back = await records.get("bytes", "\u{1F600} .");
    expect(back).toMatchObject({ type: "bytes", size: 70_000, text: "said" });
    expect(Buffer.compare(back.value as Uint8Array, bytes)).toBe(0);
    await records.put({ namespace: "bytes", key: "empty", value: new Uint8Array() });
    expect((await records.get("bytes", "empty")).value).toEqual(new Uint8Array());
  });

  test("are found by key, one and many", async () => {
    await records.write([
      { put: { namespace: "many", key: "a", value: 1 } },
      { put: { namespace: "many", key: "b", value: Uint8Array.of(2) } },
    ]);
    const found = await records.getMany("many", ["b", "none", "a"]);
    expect(found.map((record) => record?.value)).toEqual([Uint8Array.of(2), undefined, 1]);
    expect(await records.find("many", "none")).toBeUndefined();
    await expect(records.get("many", "none")).rejects.toMatchObject({
      code: "record_not_found",
      details: { namespace: "many", key: "none" },
    });
    await records.delete("many", "a");
    await expect(records.delete("many", "a")).rejects.toMatchObject({ code: "record_not_found" });
  });

  test("are listed by prefix, page by page, with and without values", async () => {
    await records.write(
      ["a", "p/1", "p/2", "p/3", "q"].map((key) => ({ put: { namespace: "l", key, value: key } })),
    );
    const keys: string[] = [];
    const values: unknown[] = [];
    let cursor: string | undefined;
    do {
      const range = { namespace: "l", prefix: "p/", limit: 2, ...(cursor ? { cursor } : {}) };
      const page = await records.list(range);
      const whole = await records.list({ ...range, values: true });
      expect(whole.next).toEqual(page.next);
      keys.push(...page.records.map(({ key }) => key));
      values.push(...whole.records.map(({ value }) => value));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(keys).toEqual(["p/1", "p/2", "p/3"]);
    expect(values).toEqual(keys);
    await expect(records.list({ namespace: "l", cursor: "x" })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  test("are updated only at the expected version", async () => {
    const place = { namespace: "cas", key: "k" };
    const first = await records.compareAndSet({ ...place, value: 1, expectedVersion: null });
    const stale = records.compareAndSet({ ...place, value: 2, expectedVersion: null });
    await expect(stale).rejects.toMatchObject({
      code: "record_conflict",
      details: { ...place, version: first.version, expected: "" },
    });
    const { version } = await records.compareAndSet({
      ...place,
      value: 2,
      expectedVersion: first.version,
    });
    const gone = records.delete("cas", "k", { expectedVersion: first.version });
    await expect(gone).rejects.toMatchObject({ code: "record_conflict" });
    await records.delete("cas", "k", { expectedVersion: version });
    await expect(records.compareAndSet(place as never)).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "expectedVersion" },
    });
  });

  test("eight concurrent increments by compareAndSet lose nothing", async () => {
    await records.put({ namespace: "cas", key: "sum", value: 0 });
    const add = async () => {
      for (;;) {
        const { value, version } = await records.get("cas", "sum");
        const next = { namespace: "cas", key: "sum", value: Number(value) + 1 };
        const outcome = await records
          .compareAndSet({ ...next, expectedVersion: version })
          .catch((error: { code: string }) => error.code);
        if (outcome !== "record_conflict") return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, add));
    expect((await records.get("cas", "sum")).value).toBe(8);
  });

  test("expire", async () => {
    const put = { namespace: "ttl", key: "k", value: 1, text: "a wombat", ttl: 60 };
    const { expiresAt } = await records.put(put);
    expect(expiresAt).toBe(now + 60_000);
    expect(await records.search("wombat")).toHaveLength(1);
    now += 60_000;
    expect(await records.find("ttl", "k")).toBeUndefined();
    expect(await records.search("wombat")).toEqual([]);
    expect((await records.list({ namespace: "ttl" })).records).toEqual([]);
    expect((await engine.sweep()).deletedRecords).toBe(1);
  });

  test("are found by their texts within a namespace, beside memories", async () => {
    await engine.putMemory({ agent: "coder", name: "m", content: "an axolotl" });
    await records.put({ namespace: "s1", key: "one", value: 1, text: "an axolotl swims" });
    await records.put({ namespace: "s2", key: "two", value: 2, text: "an axolotl sleeps" });
    const found = async (input?: { namespace?: string; prefix?: string; limit?: number }) =>
      (await records.search("axolotl", input)).map(({ key, text }) => `${key}: ${text}`).sort();
    expect(await found()).toEqual(["one: an axolotl swims", "two: an axolotl sleeps"]);
    expect(await found({ namespace: "s2" })).toEqual(["two: an axolotl sleeps"]);
    expect(await found({ namespace: "s2", prefix: "tw" })).toEqual(["two: an axolotl sleeps"]);
    expect(await found({ namespace: "s2", prefix: "on" })).toEqual([]);
    await expect(found({ prefix: "tw" })).rejects.toThrow("prefix needs a namespace");
    const memories = await engine.searchMemory("axolotl");
    expect(memories.map(({ name }) => name)).toEqual(["m"]);
    await engine.maintainIndex("flush");
    expect(await found({ namespace: "s2" })).toEqual(["two: an axolotl sleeps"]);
    await records.delete("s2", "two");
    expect(await found({ namespace: "s2" })).toEqual([]);
    await records.put({ namespace: "s1", key: "one", value: 1 });
    expect(await found()).toEqual([]);
  });

  test("are refused with the invalid field, and nothing is written", async () => {
    const put = (input: object) => records.put({ namespace: "x", key: "k", value: 1, ...input });
    const refused = async (call: Promise<unknown>, code: string, field: string) =>
      expect(call).rejects.toMatchObject({ code, details: { field } });
    await refused(put({ key: "" }), "invalid_input", "key");
    await refused(put({ namespace: "n".repeat(513) }), "too_large", "namespace");
    await refused(put({ key: "k".repeat(1_025) }), "too_large", "key");
    await refused(put({ value: undefined }), "invalid_input", "value");
    await refused(put({ value: { a: 1n } }), "invalid_input", "value.a");
    await refused(put({ ttl: 0.5 }), "invalid_input", "ttl");
    await refused(put({ ttl: 9e12 }), "invalid_input", "ttl");
    await refused(put({ text: "x".repeat(256 * 1024 + 1) }), "too_large", "text in bytes");
    const large = new Uint8Array(MAX_RECORD_BYTES + 1);
    await refused(put({ value: large }), "too_large", "value in bytes");
    const twice = { put: { namespace: "x", key: "k", value: 1 } };
    await refused(records.write([twice, twice]), "invalid_input", "operations");
    await refused(records.write([{}]), "invalid_input", "operation");
    expect((await records.list({ namespace: "x" })).records).toEqual([]);
  });

  test("of 16 MiB round-trip", async () => {
    const value = new Uint8Array(MAX_RECORD_BYTES).fill(7);
    await records.put({ namespace: "large", key: "a", value });
    const [found] = await records.getMany("large", ["a"]);
    expect(Buffer.compare(found?.value as Uint8Array, value)).toBe(0);
    await records.delete("large", "a");
  });

  test("are counted by a verification", async () => {
    expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
  });
});
