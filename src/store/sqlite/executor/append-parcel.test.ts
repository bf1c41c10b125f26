import { expect, test } from "vitest";
import { NONCE_BYTES } from "../../../transcript/hash.ts";
import type { AppendRequest, NewEntry } from "../../records.ts";
import { type AppendParcel, packAppend, unpackAppend } from "./append-parcel.ts";

const plain: NewEntry = {
  id: "a",
  kind: "message",
  role: "user",
  actor: "ana",
  content: "[]",
  payloads: [],
  contentBytes: 2,
  usage: null,
  model: "m",
  adapter: "x",
  metadata: "{}",
  createdAt: 7,
  interaction: true,
};

/** Every field that an entry can have. */
const full: Required<Omit<NewEntry, "encoded">> = {
  ...plain,
  id: "b",
  payloads: [{ hash: "00", bytes: Uint8Array.of(1, 2) }],
  usage: { inputTokens: 1, outputTokens: 2, cacheCreationTokens: 3, cacheReadTokens: 4 },
  interaction: false,
  parentId: null,
  supersedes: "c",
  contextWindow: 200_000,
  estimatedContext: { tokens: 7_000, after: "a" },
  feedDetails: { tokensBefore: 9 },
  copiedFrom: "d",
  status: "aborted",
};

/** As the other thread receives it; transferred buffers are detached here. */
function arrived(sent: AppendParcel): [string, AppendRequest] {
  const transfer = sent.contents === null ? [] : [sent.contents];
  const unpacked = unpackAppend(structuredClone(sent, { transfer }));
  expect(sent.contents?.byteLength ?? 0).toBe(0);
  return unpacked;
}

test("a request round-trips", () => {
  const request: Required<AppendRequest> = {
    sessionId: "s",
    entries: [plain, full, { ...plain, parentId: "a" }],
    expectedLeaf: null,
    guard: { absent: ["a"], current: ["b"] },
    replaced: ["c"],
    now: 9,
    idempotency: { key: "k", requestHash: "00" },
    summary: { text: "so far", through: "a", expectedCompaction: null },
    isHistory: false,
  };
  expect(arrived(packAppend("default", request))).toStrictEqual(["default", request]);
});

test("the content of a history arrives as bytes, with room for a nonce", () => {
  const texts = ["[]", '["héllo €"]', ""];
  const entries = texts.map((content): NewEntry => ({ ...full, content }));
  const sent = packAppend("default", { sessionId: "s", entries, now: 9, isHistory: true });
  const [, request] = arrived(sent);
  for (const [i, { content, encoded, ...rest }] of request.entries.entries()) {
    expect(content).toBe("");
    expect(encoded?.subarray(NONCE_BYTES).toString()).toBe(texts[i]);
    expect({ ...rest, content: texts[i] }).toStrictEqual(entries[i]);
  }
});

test("payloads are transferred without the rest of their underlying buffer", () => {
  const pool = new Uint8Array(64 * 1024).fill(7);
  const payloads = [3, 5].map((size) => ({ hash: `0${size}`, bytes: pool.subarray(8, 8 + size) }));
  const entries: NewEntry[] = [{ ...plain, payloads }, plain, { ...plain, payloads }];
  for (const isHistory of [false, true]) {
    const sent = packAppend("default", { sessionId: "s", entries, now: 9, isHistory });
    const contents = isHistory ? 3 * (NONCE_BYTES + 2) : 0;
    expect(sent.contents?.byteLength).toBe(contents + 16);
    const [, request] = arrived(sent);
    expect(request.entries.map((entry) => entry.payloads)).toEqual([payloads, [], payloads]);
  }
});
