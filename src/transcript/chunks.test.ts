import fc from "fast-check";
import { expect, test } from "vitest";
import type { Block } from "../model/block.ts";
import { foldChunks } from "./chunks.ts";

const CALL: Block = { type: "tool_use", id: "1", name: "read", input: "{}" };

test("neighbouring pieces of text become one block", () => {
  expect(foldChunks(["a", "b", CALL, "c", "", "d", CALL])).toEqual([
    { type: "text", text: "ab" },
    CALL,
    { type: "text", text: "cd" },
    CALL,
  ]);
});

test("no chunks give no blocks", () => {
  expect(foldChunks([])).toEqual([]);
  expect(foldChunks([""])).toEqual([]);
});

test("a split surrogate pair is rejoined, also across a stored flush", () => {
  const [high, low] = ["\ud83d", "\ude00"];
  // Each flush is stored as JSON text of its own.
  const flushes = [
    ["a", high],
    [low, "b"],
  ].map((chunks) => JSON.stringify(chunks));
  const chunks = flushes.flatMap(
    (flush) => JSON.parse(Buffer.from(flush).toString("utf8")) as string[],
  );
  expect(foldChunks(chunks)).toEqual([{ type: "text", text: "a😀b" }]);
});

test("a text is the same for any split into chunks", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.array(fc.nat()), (text, cuts) => {
      const places = [0, ...cuts.map((cut) => cut % text.length), text.length];
      places.sort((a, b) => a - b);
      const chunks = places.slice(1).map((end, i) => text.slice(places[i], end));
      expect(foldChunks(chunks)).toEqual([{ type: "text", text }]);
    }),
  );
});
