import { describe, expect, test } from "vitest";
import type { RecordInfo } from "../../model/record.ts";
import type { ReadRecordsRequest, RecordRecord, RecordWrite } from "../record/record-port.ts";
import type { Store } from "../store.ts";
import { type Cases, expectCode, feedOf, nextId, T0 } from "./fixture.cases.ts";

/** A put of bytes, or of JSON as its text. */
export function recordPut(
  namespace: string,
  key: string,
  value: string | Uint8Array,
  more: { text?: string; expiresAt?: number; version?: string } = {},
): RecordWrite & { readonly put: object } {
  const isJson = typeof value === "string";
  const bytes = isJson ? Buffer.from(JSON.stringify(value)) : value;
  const { text = null, expiresAt = null, version = nextId() } = more;
  return { namespace, key, put: { version, bytes, isJson, text, expiresAt } };
}

export function recordCases({ store, tenant, another }: Cases): void {
  const write = (acme: string, operations: readonly RecordWrite[], now = T0, own = store()) =>
    own.writeRecords(acme, { operations, now });
  const put = async (acme: string, ...args: Parameters<typeof recordPut>): Promise<RecordInfo> =>
    (await write(acme, [recordPut(...args)]))[0] as RecordInfo;
  const gone = (namespace: string, key: string, expectedVersion?: string): RecordWrite => ({
    namespace,
    key,
    put: null,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
  });
  const read = (acme: string, request: Partial<ReadRecordsRequest>) =>
    store().readRecords(acme, { which: [], now: T0, parts: "all", ...request });
  const at = async (acme: string, key: string, now = T0): Promise<RecordRecord | undefined> =>
    (await read(acme, { which: [{ namespace: "n", key }], now })).records[0];

  describe("records", () => {
    test("are put, replaced, read and deleted", async () => {
      const acme = tenant();
      const first = await put(acme, "n", "k", "one", { text: "said", version: "v1" });
      expect(first).toEqual({
        namespace: "n",
        key: "k",
        version: "v1",
        type: "json",
        size: 5,
        indexed: true,
        expiresAt: null,
        createdAt: T0,
        updatedAt: T0,
      });
      const whole = await at(acme, "k");
      expect(whole).toMatchObject({ ...first, text: "said" });
      expect(Buffer.from(whole?.bytes ?? []).toString()).toBe('"one"');
      const bytes = Uint8Array.of(0, 255, 1);
      const [second] = await write(acme, [recordPut("n", "k", bytes, { version: "v2" })], T0 + 5);
      expect(second).toMatchObject({ type: "bytes", size: 3, indexed: false, createdAt: T0 });
      expect(second).toMatchObject({ updatedAt: T0 + 5, version: "v2" });
      const replaced = await at(acme, "k");
      expect(replaced?.text).toBeNull();
      expect(Buffer.compare(replaced?.bytes ?? new Uint8Array(), bytes)).toBe(0);
      await put(acme, "n", "plain", "x", { version: "v3" });
      expect(await write(acme, [gone("n", "k")])).toEqual([null]);
      expect(await at(acme, "k")).toBeUndefined();
      await expectCode(write(acme, [gone("n", "k")]), "record_not_found", { key: "k" });
      const told = (version: string, indexed: boolean, key = "k") => ({
        namespace: "n",
        key,
        version,
        indexed,
      });
      expect(await feedOf(store(), acme)).toEqual([
        ["record_put", told("v1", true)],
        ["record_put", told("v2", true)],
        ["record_put", told("v3", false, "plain")],
        ["record_deleted", told("v2", false)],
      ]);
    });

    test("are read by namespace and key, within a byte limit", async () => {
      const acme = tenant();
      const now = T0 + 1;
      await put(acme, "n", "gone", Uint8Array.of(1), { expiresAt: now });
      await put(acme, "n", "a", new Uint8Array(60));
      await put(acme, "n", "b", new Uint8Array(10), { text: "x".repeat(28) });
      await put(acme, "n", "c", new Uint8Array(1));
      const which = ["none", "gone", "a", "b", "c"].map((key) => ({ namespace: "n", key }));
      const keys = async (maxBytes: number) => {
        const { records, more } = await read(acme, { which, now, maxBytes });
        return [...records.map(({ key }) => key), more];
      };
      // Texts count: `b` has one of 30 bytes with its quotes.
      expect(await keys(101)).toEqual(["a", "b", "c", false]);
      expect(await keys(100)).toEqual(["a", "b", true]);
      expect(await keys(99)).toEqual(["a", true]);
      expect(await keys(1)).toEqual(["a", true]);
    });

    test("are written atomically", async () => {
      const acme = tenant();
      await put(acme, "n", "a", "1", { version: "v1" });
      const batch = [recordPut("n", "b", "2"), gone("n", "a", "other")];
      await expectCode(write(acme, batch), "record_conflict", { key: "a", version: "v1" });
      expect(await at(acme, "b")).toBeUndefined();
      await write(acme, [recordPut("n", "b", "2"), gone("n", "a", "v1")]);
      expect((await at(acme, "b"))?.size).toBe(3);
      expect(await at(acme, "a")).toBeUndefined();
    });

    test("are written if a checked record exists, at a version if one is given", async () => {
      const acme = tenant();
      const check = (key: string, expectedVersion?: string) => [
        { ...gone("n", key, expectedVersion), isCheck: true },
        recordPut("n", "b", "2"),
      ];
      await expectCode(write(acme, check("a")), "record_not_found", { key: "a" });
      const a = await put(acme, "n", "a", "1", { version: "v1" });
      await expectCode(write(acme, check("a", "v0")), "record_conflict", { version: "v1" });
      expect(await at(acme, "b")).toBeUndefined();
      expect(await write(acme, check("a", "v1"))).toMatchObject([null, { key: "b" }]);
      expect(await at(acme, "a")).toMatchObject(a);
      await write(acme, [gone("n", "a")]);
      await expectCode(write(acme, check("a")), "record_not_found", { key: "a" });
    });

    test("a retried write is idempotent, also if a record that it checked is gone since", async () => {
      const acme = tenant();
      const { version } = await put(acme, "n", "a", "1", { version: "v1" });
      const batch = [
        { ...gone("n", "a", version), isCheck: true },
        recordPut("n", "b", "2", { version: "mine" }),
      ];
      const first = await write(acme, batch);
      await put(acme, "n", "a", "2", { version: "v2" });
      expect(await write(acme, batch, T0 + 9)).toEqual(first);
      await write(acme, [gone("n", "a")]);
      expect(await write(acme, batch, T0 + 9)).toEqual(first);
      // Of a part of the write the store cannot tell: the check counts.
      const more = [...batch, recordPut("n", "c", "3", { version: "more" })];
      await expectCode(write(acme, more), "record_conflict", { key: "a" });
      expect(await at(acme, "c")).toBeUndefined();
      const checks = batch.slice(0, 1);
      await expectCode(write(acme, checks), "record_conflict", { key: "a" });
    });

    test("compare-and-swap: are written only at the expected version", async () => {
      const acme = tenant();
      const set = (expectedVersion: string | null, version: string) =>
        write(acme, [{ ...recordPut("n", "k", version, { version }), expectedVersion }]);
      await expectCode(set("v0", "v1"), "record_conflict", { version: "", expected: "v0" });
      await set(null, "v1");
      await expectCode(set(null, "v2"), "record_conflict", { version: "v1", expected: "" });
      await set("v1", "v2");
      await expectCode(set("v1", "v3"), "record_conflict", { version: "v2", expected: "v1" });
      expect((await at(acme, "k"))?.version).toBe("v2");
    });

    test("a retried write with the same version is idempotent", async () => {
      const acme = tenant();
      const once = { ...recordPut("n", "k", "x", { version: "mine" }), expectedVersion: null };
      const [first] = await write(acme, [once]);
      expect(await write(acme, [once], T0 + 9)).toEqual([first]);
      expect(await feedOf(store(), acme)).toHaveLength(1);
    });

    test("of 64 concurrent compare-and-swaps, one wins", async () => {
      const acme = tenant();
      const { version } = await put(acme, "n", "k", "start");
      const stores = [store(), await another()];
      const tries = Array.from({ length: 64 }, (_, i) => {
        const operation = { ...recordPut("n", "k", `${i}`), expectedVersion: version };
        return write(acme, [operation], T0, stores[i % 2] as Store).then(
          () => `${i}`,
          (error: { code: string }) => error.code,
        );
      });
      const ends = await Promise.all(tries);
      const winners = ends.filter((end) => end !== "record_conflict");
      expect(winners).toHaveLength(1);
      expect(Buffer.from((await at(acme, "k"))?.bytes ?? []).toString()).toBe(`"${winners[0]}"`);
    });

    test("are absent from their expiry on, and a sweep deletes them", async () => {
      const acme = tenant();
      const end = T0 + 1_000;
      await put(acme, "n", "k", "x", { expiresAt: end, text: "soon", version: "v1" });
      await put(acme, "n", "stays", "x");
      expect(await at(acme, "k", end - 1)).toBeDefined();
      expect(await at(acme, "k", end)).toBeUndefined();
      const range = { namespace: "n", prefix: "", limit: 9, maxBytes: 99 };
      const later = await read(acme, { which: range, now: end });
      expect(later.records.map(({ key }) => key)).toEqual(["stays"]);
      await expectCode(write(acme, [gone("n", "k")], end), "record_not_found");
      const fresh = { ...recordPut("n", "k", "y", { expiresAt: end }), expectedVersion: null };
      expect((await write(acme, [fresh], end))[0]).toMatchObject({ createdAt: end });
      const used = (await store().status()).tenants.find((each) => each.tenant === acme);
      expect(used?.contentBytes).toBe(6);
      const swept = await store().sweep({ tenant: acme, now: end, limit: 4 });
      expect(swept).toMatchObject({ deletedRecords: 1, more: false });
      expect(await at(acme, "k", 0)).toBeUndefined();
      const left = (await store().status()).tenants.find((each) => each.tenant === acme);
      expect(left?.contentBytes).toBe(3);
      const last = { namespace: "n", key: "k", indexed: false };
      expect((await feedOf(store(), acme)).at(-1)).toMatchObject(["record_deleted", last]);
    });

    test("are listed by the bytes of their keys, page by page", async () => {
      const acme = tenant();
      const keys = [
        "b",
        "a/z",
        "a/ä",
        "a/B",
        "a/\u{10FFFF}",
        "a",
        "a0",
        "A",
        "\uFFFD",
        "\u{1F600}",
      ];
      await write(
        acme,
        keys.map((key) => recordPut("n", key, key)),
      );
      await put(acme, "other", "a/x", "x");
      const list = async (prefix: string, after?: string, limit = 20) => {
        const which = {
          namespace: "n",
          prefix,
          limit,
          maxBytes: 1_000,
          ...(after === undefined ? {} : { after: { namespace: "n", key: after } }),
        };
        const { records, more } = await read(acme, { which, parts: "info" });
        return [...records.map(({ key }) => key), ...(more ? ["…"] : [])];
      };
      expect(await list("")).toEqual([
        "A",
        "a",
        "a/B",
        "a/z",
        "a/ä",
        "a/\u{10FFFF}",
        "a0",
        "b",
        "\uFFFD",
        "\u{1F600}",
      ]);
      expect(await list("a/")).toEqual(["a/B", "a/z", "a/ä", "a/\u{10FFFF}"]);
      expect(await list("a/", undefined, 2)).toEqual(["a/B", "a/z", "…"]);
      expect(await list("a/", "a/z", 2)).toEqual(["a/ä", "a/\u{10FFFF}"]);
      expect(await list("\u{1F600}")).toEqual(["\u{1F600}"]);
      expect(await list("nothing")).toEqual([]);
    });

    test("a page with values is bounded in bytes, and has at least one record", async () => {
      const acme = tenant();
      const large = new Uint8Array(600);
      await write(
        acme,
        ["a", "b", "c"].map((key) => recordPut("n", key, large)),
      );
      const page = async (maxBytes: number, parts: "all" | "info") => {
        const which = { namespace: "n", prefix: "", limit: 9, maxBytes };
        const { records, more } = await read(acme, { which, parts });
        return [records.length, more];
      };
      expect(await page(1_200, "all")).toEqual([2, true]);
      expect(await page(1, "all")).toEqual([1, true]);
      expect(await page(1_800, "all")).toEqual([3, false]);
      expect(await page(1, "info")).toEqual([3, false]);
    });

    test("count towards the tenant's quota of content", async () => {
      const acme = tenant();
      const quota = { maxSessions: null, maxEntries: null, maxContentBytes: 100 };
      await store().setQuota(acme, quota, T0);
      await put(acme, "n", "k", new Uint8Array(90), { text: "12345678" });
      await expectCode(put(acme, "n", "l", new Uint8Array(1)), "quota_exceeded");
      await put(acme, "n", "k", new Uint8Array(10));
      await put(acme, "n", "l", new Uint8Array(90));
      await write(acme, [gone("n", "l")]);
      await put(acme, "n", "m", new Uint8Array(90));
    });
  });
}
