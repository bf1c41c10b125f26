import { expect, test } from "vitest";
import { cutMiddle, lengthOf } from "./cut-text.ts";

test("a short text is unchanged", () => {
  expect(cutMiddle("abcdef", 3, 3)).toBe("abcdef");
});

test("a longer one keeps its head and tail", () => {
  expect(cutMiddle("abcdefgh", 3, 2)).toBe("abc\n...\ngh");
  expect(cutMiddle("abcdefgh", 0, 2)).toBe("\n...\ngh");
});

test("characters are code points", () => {
  expect(lengthOf("a😀語")).toBe(3);
  expect(cutMiddle("😀😀😀😀😀", 1, 2)).toBe("😀\n...\n😀😀");
});

test("lone surrogates count as characters", () => {
  expect(lengthOf("\ud83d\ud83d\ude00\ude00")).toBe(3);
  expect(cutMiddle("\ude00\ude00abc", 2, 1)).toBe("\ude00\ude00\n...\nc");
});
