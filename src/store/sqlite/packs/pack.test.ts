import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPackable, Pack, PackCache, packTexts } from "./pack.ts";

const text = fc.option(fc.json(), { nil: null });
const slots = fc.array(fc.record({ content: text, metadata: text }), { minLength: 1 });

function packed(
  entries: readonly { content: string | null; metadata: string | null }[],
): Uint8Array {
  const texts = entries.flatMap(({ content, metadata }) => [content ?? "", metadata ?? ""]);
  return packTexts(texts.map((each) => Buffer.from(each)));
}

describe("a pack", () => {
  test("round-trips", () => {
    fc.assert(
      fc.property(slots, (entries) => {
        const pack = new Pack(packed(entries));
        const read = entries.map((_, slot) => ({
          content: pack.content(slot),
          metadata: pack.metadata(slot),
        }));
        expect(read).toEqual(entries);
        expect([pack.content(entries.length), pack.metadata(entries.length)]).toEqual([null, null]);
      }),
    );
  });

  test("without some slots keeps the others in place", () => {
    const entries = ["a", "b", "c"].map((name) => ({ content: `"${name}"`, metadata: `{}` }));
    const pack = new Pack(packed(entries));
    const left = new Pack(pack.without(new Set([1])) ?? new Uint8Array());
    expect([0, 1, 2].map((slot) => left.content(slot))).toEqual(['"a"', null, '"c"']);
    expect(left.metadata(1)).toBeNull();
    expect(pack.without(new Set([0, 1, 2]))).toBeUndefined();
  });

  test("refuses texts that contain its separator", () => {
    expect(["", "\0", "a\0b", "a"].map((each) => isPackable(Buffer.from(each)))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test("that is short does not retain Node's buffer pool", () => {
    const pack = new Pack(packed([{ content: '"short"', metadata: "{}" }]));
    expect(pack.size).toBeLessThan(1_100);
    expect(pack.content(0)).toBe('"short"');
  });

  test("that is damaged throws", () => {
    expect(() => new Pack(packed([{ content: "1", metadata: "2" }]).subarray(0, 9))).toThrow();
    expect(() => new Pack(Buffer.from("no pack"))).toThrow();
  });
});

describe("the cache of packs", () => {
  const large = new Pack(packed([{ content: `"${"x".repeat(700_000)}"`, metadata: null }]));

  test("evicts the least recently used, up to its size", () => {
    const cache = new PackCache();
    cache.keep(1, 1, 1, large);
    cache.keep(1, 1, 2, large);
    expect(cache.find(1, 1, 1)).toBe(large);
    cache.keep(1, 1, 3, large);
    expect([1, 2, 3].map((number) => cache.find(1, 1, number) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("separates tenants and sessions, and drops on request", () => {
    const cache = new PackCache();
    cache.keep(1, 2, 3, large);
    expect([cache.find(2, 2, 3), cache.find(1, 3, 3)]).toEqual([undefined, undefined]);
    cache.drop(1, 2, 3);
    expect(cache.find(1, 2, 3)).toBeUndefined();
    cache.keep(1, 2, 3, large);
    cache.clear();
    expect(cache.find(1, 2, 3)).toBeUndefined();
  });
});
