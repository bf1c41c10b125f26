import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  changeBody,
  changeHash,
  contentHash,
  entryHash,
  fromHex,
  type HashedChange,
  type HashedColumns,
  type HashedPlace,
  sha256,
  toHex,
  ZERO_HASH,
} from "./hash.ts";

const COLUMNS: HashedColumns = {
  id: "01ARYZ6S41TSV4RRFFQ69G5FAV",
  sessionId: "session",
  kind: "message",
  role: "user",
  actor: "ann",
  model: "model",
  adapter: "adapter",
  inputTokens: 1,
  outputTokens: 2,
  cacheCreationTokens: 3,
  cacheReadTokens: 4,
  metadata: '{"a":1}',
  copiedFrom: "01BX5ZZKBKACTAV9WEVGEMMVRZ",
  createdAt: 1_000,
};

const PLACE: HashedPlace = { sequence: 7, chain: 2, depth: 5, ordinal: 4 };

const CHANGE: HashedChange = {
  kind: "entry_appended",
  at: 1_000,
  sessionId: "session",
  entryId: "entry",
  entryHash: new Uint8Array(32).fill(1),
  details: '{"kind":"label"}',
};

const NONCE = new Uint8Array(16).fill(9);

function hashOf(columns: Partial<HashedColumns> = {}, place: Partial<HashedPlace> = {}): string {
  const content = contentHash(NONCE, "content");
  return toHex(entryHash(ZERO_HASH, content, { ...PLACE, ...place }, { ...COLUMNS, ...columns }));
}

function bodyHash(change: Partial<HashedChange>): string {
  return toHex(changeHash(ZERO_HASH, 3, changeBody({ ...CHANGE, ...change })));
}

describe("golden values: stored hashes can be verified by any later version", () => {
  test("content", () => {
    const expected = createHash("sha256").update(NONCE).update("žluť 😀").digest("hex");
    expect(toHex(contentHash(NONCE, "žluť 😀"))).toBe(expected);
    const large = "é".repeat(100_000);
    expect(toHex(contentHash(NONCE, large))).toBe(
      createHash("sha256").update(NONCE).update(large).digest("hex"),
    );
  });

  test("entry", () => {
    expect(hashOf()).toBe("267b92a80f8abdbb586a2f394eb75f4ba39b2ddc0ebf6dd69e2779ca33af8622");
    const absent = {
      role: null,
      actor: null,
      model: null,
      adapter: null,
      metadata: null,
      copiedFrom: null,
      inputTokens: null,
      outputTokens: null,
      cacheCreationTokens: null,
      cacheReadTokens: null,
    };
    expect(hashOf(absent)).toBe("13937814d59fde76edff757ee50c2a5f59b7900d59d0b7947793511ac58921f5");
  });

  test("change", () => {
    expect(bodyHash({})).toBe("9048fcfc1321963b70ed42a9fb62c45faac581634238d58947e9a12623971db3");
    const absent = { sessionId: null, entryId: null, entryHash: null, details: null };
    expect(bodyHash(absent)).toBe(
      "f246ef5c0367a950e298b419b7dcb47c3ec70837cc9a6e762a6fee0ae42ad327",
    );
  });

  test("a position above 2^32 is written in 8 bytes, big-endian", () => {
    const position = 2 ** 40 + 5;
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(position));
    const body = changeBody(CHANGE);
    const expected = createHash("sha256").update(ZERO_HASH).update(bytes).update(body);
    expect(toHex(changeHash(ZERO_HASH, position, body))).toBe(expected.digest("hex"));
  });
});

describe("entryHash", () => {
  test("changes with each column and each part of the place", () => {
    const hashes = [hashOf()];
    for (const [name, value] of Object.entries(COLUMNS)) {
      const other = typeof value === "number" ? value + 1 : `${value}x`;
      hashes.push(hashOf({ [name]: other }));
      if (!["id", "sessionId", "kind", "createdAt"].includes(name)) {
        hashes.push(hashOf({ [name]: null }));
      }
    }
    for (const [name, value] of Object.entries(PLACE))
      hashes.push(hashOf({}, { [name]: value + 1 }));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes.length).toBe(1 + 14 + 10 + 4);
  });

  test("changes with the parent and the content", () => {
    const content = contentHash(NONCE, "content");
    const other = contentHash(NONCE, "contenu");
    const parent = sha256(Buffer.from("parent"));
    const all = [
      entryHash(ZERO_HASH, content, PLACE, COLUMNS),
      entryHash(parent, content, PLACE, COLUMNS),
      entryHash(ZERO_HASH, other, PLACE, COLUMNS),
      entryHash(content, ZERO_HASH, PLACE, COLUMNS),
    ];
    expect(new Set(all.map(toHex)).size).toBe(all.length);
  });

  test("does not depend on earlier calls", () => {
    const plain = {
      inputTokens: null,
      outputTokens: null,
      cacheCreationTokens: null,
      cacheReadTokens: null,
      metadata: null,
      copiedFrom: null,
    };
    const names = ["ann", "žofie", "李", "\ud800", "bob", null];
    const columns = names.flatMap((actor, i) =>
      [null, 5].map((inputTokens) => ({
        ...COLUMNS,
        ...plain,
        inputTokens,
        actor,
        role: i % 2 === 0 ? "user" : null,
        createdAt: i,
      })),
    );
    const content = contentHash(NONCE, "content");
    const expected = columns.map((each) => {
      const fields = [
        each.id,
        each.sessionId,
        each.kind,
        each.role,
        each.actor,
        each.model,
        each.adapter,
        each.inputTokens,
        null,
        null,
        null,
        null,
        null,
        each.createdAt,
        PLACE.sequence,
        PLACE.chain,
        PLACE.depth,
        PLACE.ordinal,
      ];
      const header = fields.map((field) => `${field ?? "\u0001"}\0`).join("");
      return createHash("sha256").update(ZERO_HASH).update(content).update(header).digest("hex");
    });
    for (let round = 0; round < 3; round++) {
      const order = [...columns.keys()].map((i) => (i * (2 * round + 1)) % columns.length);
      for (const i of order) {
        const hash = entryHash(ZERO_HASH, content, PLACE, columns[i] as HashedColumns);
        expect(toHex(hash)).toBe(expected[i]);
      }
    }
  });

  test("changes when text moves from one field to the next", () => {
    expect(hashOf({ actor: "ab", model: "c" })).not.toBe(hashOf({ actor: "a", model: "bc" }));
    expect(hashOf({ actor: "", model: "a" })).not.toBe(hashOf({ actor: "a", model: "" }));
    expect(hashOf({ actor: null })).not.toBe(hashOf({ actor: "" }));
    expect(hashOf({ inputTokens: 1, outputTokens: 12 })).not.toBe(
      hashOf({ inputTokens: 11, outputTokens: 2 }),
    );
  });
});

describe("contentHash", () => {
  test("of equal text differs with the nonce", () => {
    const other = new Uint8Array(16).fill(8);
    expect(toHex(contentHash(NONCE, "yes"))).not.toBe(toHex(contentHash(other, "yes")));
  });
});

describe("changeHash", () => {
  test("changes with each field, the position and the predecessor", () => {
    const hashes = [bodyHash({})];
    hashes.push(bodyHash({ kind: "entry_pinned" }), bodyHash({ at: 1_001 }));
    hashes.push(bodyHash({ sessionId: "other" }), bodyHash({ sessionId: null }));
    hashes.push(bodyHash({ entryId: "other" }), bodyHash({ entryId: null }));
    hashes.push(bodyHash({ entryHash: new Uint8Array(32) }), bodyHash({ entryHash: null }));
    hashes.push(bodyHash({ details: "{}" }), bodyHash({ details: null }));
    const body = changeBody(CHANGE);
    hashes.push(toHex(changeHash(ZERO_HASH, 4, body)));
    hashes.push(toHex(changeHash(new Uint8Array(32).fill(1), 3, body)));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

test("hex round-trips, also from the middle of a larger buffer", () => {
  const bytes = new Uint8Array([0, 1, 0xfe, 0xff, 7]).subarray(1, 4);
  expect(toHex(bytes)).toBe("01feff");
  expect([...fromHex("01feff")]).toEqual([1, 0xfe, 0xff]);
});
