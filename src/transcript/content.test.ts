import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block } from "../model/block.ts";
import type { JsonValue } from "../model/json.ts";
import {
  BLOB_THRESHOLD_BYTES,
  blobsOf,
  decodeContent,
  encodeContent,
  nestedBlobsOf,
} from "./content.ts";
import { sha256, toHex } from "./hash.ts";

/** Round-trips content with its payloads; gives their number. */
function check(blocks: readonly Block[], data: JsonValue = null): number {
  const { text, payloads } = encodeContent({ blocks, data });
  // As a store does: bytes by address.
  const stored = Buffer.from(text).toString("utf8");
  expect(stored).toBe(text);
  const blobs = new Map(payloads.map((payload) => [payload.hash, payload.bytes]));
  for (const payload of payloads) expect(toHex(sha256(payload.bytes))).toBe(payload.hash);

  const decoded = decodeContent(stored, (hash) => blobs.get(hash));
  expect(decoded).toEqual({ blocks, data, truncated: false });
  // `blobsOf` names all that are needed.
  const named = blobsOf(stored);
  const nested = named.flatMap((hash) =>
    nestedBlobsOf(stored, blobs.get(hash) ?? new Uint8Array()),
  );
  expect(new Set([...named, ...nested])).toEqual(new Set(blobs.keys()));
  return payloads.length;
}

const LARGE = BLOB_THRESHOLD_BYTES + 1;

function text(value: string): Block {
  return { type: "text", text: value };
}

describe("encodeContent and decodeContent", () => {
  test("keep values that other encodings lose", () => {
    for (const value of ["\0", "\ud800", "x\udc00", "\u2028", "\ufeffa", "😀", "\r\n", '"\\']) {
      check([text(value)]);
      check([text(value.repeat(LARGE))]);
    }
  });

  test("keep JSON text unchanged", () => {
    const input = '{ "n": 123456789012345678901234567890.10, "a":1,"a":2, "__proto__":{"x":1} }';
    check([{ type: "tool_use", id: "c", name: "run", input }]);
    check([{ type: "opaque", json: input }]);
  });

  test("keep __proto__ keys of data and of extra fields", () => {
    const data = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}',
    ) as JsonValue;
    check([], data);
    const block = JSON.parse('{"type":"text","text":"a","__proto__":{"polluted":1}}') as Block;
    check([block]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("detach a payload above the threshold", () => {
    expect(check([text("x".repeat(BLOB_THRESHOLD_BYTES))])).toBe(0);
    expect(check([text("x".repeat(LARGE))])).toBe(1);
    // The threshold counts bytes, not characters.
    expect(check([text("é".repeat(BLOB_THRESHOLD_BYTES / 2))])).toBe(0);
    expect(check([text("é".repeat(BLOB_THRESHOLD_BYTES / 2 + 1))])).toBe(1);
  });

  test("detach every large field, and equal payloads once", () => {
    const large = (letter: string) => letter.repeat(LARGE);
    const blocks: Block[] = [
      { type: "thinking", text: large("a"), signature: large("b") },
      { type: "tool_use", id: "1", name: "write", input: large("c") },
      { type: "tool_result", toolUseId: "1", output: large("d"), isError: false },
      { type: "image", mediaType: "image/png", data: large("e") },
      { type: "opaque", json: large("f") },
      text(large("a")),
    ];
    expect(check(blocks)).toBe(6);
  });

  test("reach into nested tool results", () => {
    const inner: Block = {
      type: "tool_result",
      toolUseId: "2",
      output: [text("y".repeat(LARGE)), text("small")],
      isError: true,
    };
    const outer: Block = { type: "tool_result", toolUseId: "1", output: [inner], isError: false };
    expect(check([outer])).toBe(1);
  });

  test("detach the text itself when many small blocks make it large", () => {
    const blocks = Array.from({ length: 2_000 }, (_, i) => text(`block ${i}`));
    expect(check(blocks)).toBe(1);
    // Its references are then found through it.
    expect(check([...blocks, text("z".repeat(LARGE))])).toBe(2);
    expect(check([], { state: "s".repeat(10 * LARGE) })).toBe(1);
  });

  test("keep content that looks like a reference", () => {
    check([text('{"blob":"00","bytes":1,"head":""}')]);
    check([], { blocks: [{ type: "text", text: { blob: "00" } }], blob: "00" });
    check([{ type: "image", url: "x", blob: "00" } as Block]);
    const block = { type: "tool_result", toolUseId: "1", output: "x", isError: false, blob: "11" };
    check([block as Block]);
  });

  test("count the bytes of text and payloads together", () => {
    const { text: small, bytes } = encodeContent({ blocks: [text("é")], data: null });
    expect(bytes).toBe(Buffer.byteLength(small));
    const large = encodeContent({ blocks: [text("x".repeat(100_000))], data: null });
    expect(large.bytes).toBe(
      Buffer.byteLength(large.text) + (large.payloads[0]?.bytes.length ?? 0),
    );
    expect(large.text.length).toBeLessThan(1_000);
  });

  test("keep any blocks and data", () => {
    const string = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 4 }).map((part) => part.repeat(LARGE)),
    );
    const leaf = fc.oneof(
      string.map(text),
      fc.record({
        type: fc.constant("tool_use" as const),
        id: string,
        name: string,
        input: string,
      }),
      fc.record({ type: fc.constant("opaque" as const), json: string }),
    );
    const result = fc.record({
      type: fc.constant("tool_result" as const),
      toolUseId: string,
      output: fc.oneof(string, fc.array(leaf, { maxLength: 3 })),
      isError: fc.boolean(),
    });
    // JSON has no -0.
    const data = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
    fc.assert(
      fc.property(fc.array(fc.oneof(leaf, result), { maxLength: 5 }), data, (blocks, value) => {
        check(blocks, value);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a preview", () => {
  const nothing = () => undefined;

  test("shows the head of a payload and is marked as truncated", () => {
    const { text: stored } = encodeContent({
      blocks: [text("small"), text("abc".repeat(LARGE))],
      data: null,
    });
    const { blocks, truncated } = decodeContent(stored, nothing);
    expect(truncated).toBe(true);
    expect(blocks[0]).toEqual(text("small"));
    const head = blocks[1]?.type === "text" ? blocks[1].text : "";
    expect("abc".repeat(LARGE).startsWith(head)).toBe(true);
    expect(head.length).toBeGreaterThan(50);
    expect(head.length).toBeLessThan(1_000);
  });

  test("never splits a surrogate pair", () => {
    for (const shift of ["", "x"]) {
      const { text: stored } = encodeContent({
        blocks: [text(shift + "😀".repeat(LARGE))],
        data: null,
      });
      const [block] = decodeContent(stored, nothing).blocks;
      expect(block?.type === "text" && block.text.isWellFormed()).toBe(true);
    }
  });

  test("of small content is the content", () => {
    const { text: stored } = encodeContent({ blocks: [text("a")], data: { b: 1 } });
    expect(decodeContent(stored, nothing)).toEqual({
      blocks: [text("a")],
      data: { b: 1 },
      truncated: false,
    });
  });

  test("of detached text is empty and marked as truncated", () => {
    const blocks = Array.from({ length: 2_000 }, (_, i) => text(`block ${i}`));
    const { text: stored } = encodeContent({ blocks, data: null });
    expect(decodeContent(stored, nothing)).toEqual({ blocks: [], data: null, truncated: true });
  });
});
