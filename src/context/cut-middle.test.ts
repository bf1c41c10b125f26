import { expect, test } from "vitest";
import { cutMiddle, lengthOf } from "./cut-middle.ts";

test("a text that is short enough stays", () => {
  expect(cutMiddle("abcdef", 3, 3)).toBe("abcdef");
});

test("a longer one keeps its two ends", () => {
  expect(cutMiddle("abcdefgh", 3, 2)).toBe("abc\n...\ngh");
  expect(cutMiddle("abcdefgh", 0, 2)).toBe("\n...\ngh");
});

test("characters are code points", () => {
  expect(lengthOf("a😀語")).toBe(3);
  expect(cutMiddle("😀😀😀😀😀", 1, 2)).toBe("😀\n...\n😀😀");
});

test("halves of pairs count as they stand", () => {
  expect(lengthOf("\ud83d\ud83d\ude00\ude00")).toBe(3);
  expect(cutMiddle("\ude00\ude00abc", 2, 1)).toBe("\ude00\ude00\n...\nc");
});
